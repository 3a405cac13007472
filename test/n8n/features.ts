import { testedVersion } from './installation';

/** What some versions of n8n lack of what the package can use, and what there is in its place. */
const lacks: Record<string, Partial<Record<Feature, string>>> = {
	'1.123.81': {
		chatModels:
			'n8n 1 provides no `@n8n/ai-node-sdk`, by which a community node gives n8n a chat model. The node says so, and sends nothing; take n8n’s OpenAI Chat Model with the base URL of your gateway and `/v1`, or **Chat: Complete**.',
		signedLinks:
			'n8n 1 keeps files in its memory unless `N8N_DEFAULT_BINARY_DATA_MODE=filesystem` is set. The node says so, before anything is sent.',
		openOrders:
			'n8n 1 gives an execution that was stopped or killed and its Retry nothing in common: the Retry orders and pays again. The Retry of an execution that failed by itself pays nothing twice, as in n8n 2.',
		retryAfterStop:
			'n8n 1 stores so little of an execution that was stopped while it ordered that its Retry runs nothing. The IDs of its jobs are in its highlighted data and in n8n’s log: [collect the videos by them](collect-by-id.md).',
		tables:
			'The Data Table node of n8n 1 makes no table, so the example `cost-log.json` needs n8n 2.',
		mcpOrders:
			'n8n 1 gives all calls of its MCP server one identity: the tool orders one video, and refuses the next until n8n is restarted.',
		humanReview: 'n8n 1 has no review of tools in the chat. Ask by mail instead.',
		autosave: 'n8n 1 saves a workflow when the user says so.',
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

/** Why a version lacks a feature, and what there is in its place; undefined where it has it. */
export const lackOf = (feature: Feature, version = testedVersion): string | undefined =>
	lacks[version]?.[feature];

/** For tests of what this version may lack. */
export const having = (feature: Feature) => (lackOf(feature) === undefined ? it : it.skip);

/** For tests of what there is in the place of what this version lacks; there are none in other versions. */
export const lacking =
	(feature: Feature) =>
	(name: string, test: () => Promise<void> | void): void => {
		if (lackOf(feature) !== undefined) it(name, async () => await test());
	};
