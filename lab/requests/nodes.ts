import type { IDataObject } from 'n8n-workflow';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	type Node,
} from '../../test/support/workflows/workflows';
import type { Gateway } from '../../gateway';
import { runWorkflow, type RunOptions } from '../../test/harness';

export type Target = Pick<Gateway, 'url' | 'apiKey'>;

/** The nodes take `text` from their items. */
export const chat = (options: IDataObject = {}): Node =>
	modelGateway(
		{
			resource: 'chat',
			operation: 'complete',
			model: byId(chatModel),
			options,
			messages: { values: [{ role: 'user', content: '={{ $json.text }}' }] },
		},
		{ name: measured },
	);

export const embedding = (options: IDataObject = {}): Node =>
	modelGateway(
		{
			resource: 'embedding',
			operation: 'create',
			model: byId(embeddingModel),
			options,
			input: '={{ $json.text }}',
		},
		{ name: measured },
	);

/** n8n's own node, as a user would set it up without this package: one request per item. */
const httpRequest = (url: string, jsonBody: string): Node => ({
	name: measured,
	type: 'n8n-nodes-base.httpRequest',
	parameters: {
		method: 'POST',
		url,
		sendBody: true,
		specifyBody: 'json',
		jsonBody,
		authentication: 'predefinedCredentialType',
		nodeCredentialType: 'modelGatewayApi',
	},
});

export const httpRequestChat = ({ url }: Target): Node =>
	httpRequest(
		`${url}/v1/chat/completions`,
		`={{ JSON.stringify({ model: "${chatModel}", messages: [{ role: "user", content: $json.text }] }) }}`,
	);

export const httpRequestEmbedding = ({ url }: Target): Node =>
	httpRequest(
		`${url}/v1/embeddings`,
		`={{ JSON.stringify({ model: "${embeddingModel}", input: $json.text }) }}`,
	);

export const chatModel = 'chat-1';
const embeddingModel = 'embed-1';
/** The name of the node whose time is measured. */
export const measured = 'Measured';

export const textOf = (index: number) => `Tell me something about the number ${index}`;

/** Runs a node for this many items. @returns its seconds @throws Error when an item is missing */
export async function runItems(
	node: Node,
	{ target, items, ...options }: { target: Target; items: number } & RunOptions,
): Promise<number> {
	const run = await runWorkflow(chain(node), {
		credentials: credentialFor(target),
		input: Array.from({ length: items }, (_, index) => ({ json: { text: textOf(index) } })),
		...options,
	});
	const made = run.items(measured).length;
	if (made !== items) throw new Error(`${items} items gave ${made}`);
	return run.data.resultData.runData[measured][0].executionTime / 1000;
}
