import { testedVersion } from './installation';

/** Features that a major version of n8n lacks, with the reason and what to use instead (docs/versions.md). */
const lacks: Record<string, Partial<Record<Feature, string>>> = {
	1: {
		chatModels:
			'n8n 1 does not provide `@n8n/ai-node-sdk`, which a community node needs to offer a chat model. The node says so and sends nothing. Use n8n’s OpenAI Chat Model, with the base URL of your gateway followed by `/v1`, or **Chat: Complete**.',
		signedLinks:
			'n8n 1 keeps files in memory unless `N8N_DEFAULT_BINARY_DATA_MODE=filesystem` is set. The node says so before it sends anything.',
		openOrders:
			'In n8n 1, nothing connects a Retry with an execution that was stopped or killed: the Retry places its orders again, and they are charged again. After an execution that failed by itself, Retry charges nothing twice, as in n8n 2.',
		retryAfterStop:
			'When an execution is stopped during an order, n8n 1 stores so little of it that its Retry usually runs nothing. In the first seconds after Stop, a Retry places the orders again, and they are charged again. The job IDs are in the highlighted data of the execution and in n8n’s log: [collect the videos by ID](collect-by-id.md).',
		tables:
			'The Data Table node of n8n 1 cannot create a table. The examples that use one, such as `cost-log.json`, need n8n 2.',
		mcpOrders:
			'In n8n 1, all calls of an MCP server share one identity. The tool orders one video, and refuses the next one until n8n is restarted.',
		humanReview:
			'n8n 1 has no human review of tools in the chat. Ask for approval by mail instead.',
		autosave: 'n8n 1 saves a workflow only when the user saves it.',
	},
};

export type Feature =
	| 'chatModels'
	| 'signedLinks'
	| 'openOrders'
	| 'retryAfterStop'
	| 'tables'
	| 'mcpOrders'
	| 'humanReview'
	| 'autosave';

/** Why a version lacks a feature, and what to use instead; undefined if it has the feature. */
export const lackOf = (feature: Feature, version = testedVersion): string | undefined =>
	lacks[version.split('.')[0]]?.[feature];

/** Declares a test of a feature that this version may lack. */
export const having = (feature: Feature) => (lackOf(feature) === undefined ? it : it.skip);

/** Declares a test of what happens without a feature; only in versions that lack it. */
export const lacking =
	(feature: Feature) =>
	(name: string, test: () => Promise<void> | void): void => {
		if (lackOf(feature) !== undefined) it(name, async () => await test());
	};
