/** Runs in its own process: a gateway for each figure, and a count of its requests. */
import { startGateway, type Gateway } from '../../gateway';

/** How long a response, or each piece of it, takes where the figure depends on it. */
export const delays = {
	parallel: { answerMilliseconds: 200 },
	batches: { answerMilliseconds: 50 },
	firstToken: { tokenMilliseconds: 20 },
	cpu: {},
};
export type GatewayName = keyof typeof delays;

export async function serve() {
	const names = Object.keys(delays) as GatewayName[];
	const started = new Map<GatewayName, Gateway>();
	for (const name of names) started.set(name, await startGateway(delays[name]));
	const targets = [...started].map(([name, { url, apiKey }]) => [name, { url, apiKey }]);
	return {
		targets: Object.fromEntries(targets) as Record<GatewayName, Pick<Gateway, 'url' | 'apiKey'>>,
		/** The number of requests that a gateway has received. */
		requestsOf: (name: GatewayName) => started.get(name)?.requests.length ?? NaN,
	};
}
