/** A process of its own: a gateway for each figure, and a count of the requests that they saw. */
import { startGateway, type Gateway } from '../../gateway';

/** How long an answer takes, or each piece of it, where that is what a figure is about. */
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
		/** How many requests a gateway has seen. */
		requestsOf: (name: GatewayName) => started.get(name)?.requests.length ?? NaN,
	};
}
