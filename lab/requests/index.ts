import path from 'node:path';
import { withProcess, type Script } from '../process';
import type { Figure } from '../report';
import { measureBatches } from './batches';
import { measureCpu } from './cpu';
import { measureFirstToken } from './firstToken';
import { measureParallel } from './parallel';
import type { GatewayName, serve } from './service';

const service: Script<typeof serve> = { file: path.join(__dirname, 'service.ts') };

/** Measures calls that make no job: items in parallel, items that share a request, and the cost of an item. */
export async function measureRequests(chosen: GatewayName[]): Promise<Figure[]> {
	return await withProcess(service, [], async ({ targets, requestsOf }) => {
		const parts: Record<GatewayName, () => Promise<Figure[]>> = {
			parallel: async () => await measureParallel(targets.parallel),
			batches: async () =>
				await measureBatches(targets.batches, async () => await requestsOf('batches')),
			firstToken: async () => await measureFirstToken(targets.firstToken),
			cpu: async () => await measureCpu(targets.cpu),
		};
		const figures: Figure[] = [];
		for (const part of chosen) figures.push(...(await parts[part]()));
		return figures;
	});
}
