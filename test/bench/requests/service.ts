/** A process of its own: a gateway for each figure, and a count of the requests that they saw. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGateway, type Gateway } from '../../gateway';
import { reportTo } from '../helperProcess';

/** How long an answer takes, or each piece of it, where that is what a figure is about. */
export const delays = {
	parallel: { answerMilliseconds: 200 },
	batches: { answerMilliseconds: 50 },
	firstToken: { tokenMilliseconds: 20 },
	cpu: {},
};
export type GatewayName = keyof typeof delays;

export interface Service {
	gateways: Record<GatewayName, Pick<Gateway, 'url' | 'apiKey'>>;
	/** Answers with the number of requests that each gateway has seen, by name. */
	countsUrl: string;
}

async function serve(): Promise<Service> {
	const started = await Promise.all(
		Object.entries(delays).map(async ([name, delay]) => [name, await startGateway(delay)] as const),
	);
	const ofEach = <T>(pick: (gateway: Gateway) => T) =>
		Object.fromEntries(started.map(([name, gateway]) => [name, pick(gateway)])) as Record<
			GatewayName,
			T
		>;
	const counts = createServer((_, response) => {
		response.end(JSON.stringify(ofEach(({ requests }) => requests.length)));
	});
	await once(counts.listen(0, '127.0.0.1'), 'listening');
	const { port } = counts.address() as AddressInfo;
	return {
		gateways: ofEach(({ url, apiKey }) => ({ url, apiKey })),
		countsUrl: `http://127.0.0.1:${port}`,
	};
}

// The parent takes the delays from here, too.
if (require.main === module) reportTo(serve);
