import path from 'node:path';
import { withProcess } from '../helperProcess';
import type { Figure } from '../report';
import { benchBatches } from './batches';
import { benchCpu } from './cpu';
import { benchFirstToken } from './firstToken';
import { benchParallel } from './parallel';
import type { GatewayName, Service } from './service';

/** Measures the calls that make no job: how many items share time and requests, and what an item costs. */
export async function benchRequests(): Promise<Figure[]> {
	const script = path.join(__dirname, 'service.ts');
	return await withProcess({ script }, async ({ gateways, countsUrl }: Service) => {
		const counts = async () =>
			(await (await fetch(countsUrl)).json()) as Record<GatewayName, number>;
		const requestsDuring = (name: GatewayName) => async (work: () => Promise<unknown>) => {
			const { [name]: before } = await counts();
			await work();
			return (await counts())[name] - before;
		};
		return [
			...(await benchParallel(gateways.parallel)),
			...(await benchBatches(gateways.batches, requestsDuring('batches'))),
			...(await benchFirstToken(gateways.firstToken)),
			...(await benchCpu(gateways.cpu)),
		];
	});
}
