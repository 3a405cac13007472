import { NodeConnectionTypes, type IExecuteFunctions, type INodeType } from 'n8n-workflow';
import { registerTypes, type WorkflowJson } from '../../harness';
import { chatModel, measured, type Target } from './nodes';

/**
 * The least that a node for chats does in n8n: it reads one parameter and sends one request for each item. It has no
 * credential, checks, time limit, retry or journal of orders.
 */
const leastNode = ({ url, apiKey }: Target, parallel: number): INodeType => ({
	description: {
		displayName: 'Least',
		name: 'least',
		group: ['transform'],
		version: 1,
		description: 'The least that a node can do',
		defaults: { name: 'Least' },
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
export function leastChat(target: Target, parallel: number): WorkflowJson['nodes'][number] {
	registerTypes({ nodes: [leastNode(target, parallel)] });
	return { name: measured, type: 'test.least', parameters: { text: '={{ $json.text }}' } };
}
