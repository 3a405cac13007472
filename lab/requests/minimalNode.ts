import { NodeConnectionTypes, type IExecuteFunctions, type INodeType } from 'n8n-workflow';
import { registerTypes, type WorkflowJson } from '../../test/harness';
import { chatModel, measured, type Target } from './nodes';

/**
 * The minimum that a chat node does in n8n: it reads one parameter and sends one request for each item. It has no
 * credential, checks, timeout, retry or ledger of orders.
 */
const minimalNode = ({ url, apiKey }: Target, parallel: number): INodeType => ({
	description: {
		displayName: 'Minimal',
		name: 'minimal',
		group: ['transform'],
		version: 1,
		description: 'The minimum that a chat node does',
		defaults: { name: 'Minimal' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		properties: [{ displayName: 'Text', name: 'text', type: 'string', default: '' }],
	},
	async execute(this: IExecuteFunctions) {
		const responses: Array<Promise<object>> = [];
		const items = this.getInputData();
		let next = 0;
		const lane = async () => {
			while (next < items.length) {
				const item = next++;
				const content = this.getNodeParameter('text', item);
				responses[item] = this.helpers.httpRequest({
					method: 'POST',
					url: `${url}/v1/chat/completions`,
					headers: { Authorization: `Bearer ${apiKey}` },
					body: { model: chatModel, messages: [{ role: 'user', content }] },
					json: true,
				});
				await responses[item];
			}
		};
		await Promise.all(Array.from({ length: parallel }, lane));
		const made = await Promise.all(responses);
		return [this.helpers.returnJsonArray(made.map((response) => ({ ...response })))];
	},
});

/** Registers the node type. @returns a node that takes `text` from its item */
export function minimalChat(target: Target, parallel: number): WorkflowJson['nodes'][number] {
	registerTypes({ nodes: [minimalNode(target, parallel)] });
	return { name: measured, type: 'test.minimal', parameters: { text: '={{ $json.text }}' } };
}
