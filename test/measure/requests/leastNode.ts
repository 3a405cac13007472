import { NodeConnectionTypes, type IExecuteFunctions, type INodeType } from 'n8n-workflow';
import { registerTypes, type WorkflowJson } from '../../harness';
import { chatModel, measured, type Target } from './nodes';

/**
 * What n8n itself asks of any node that chats: one parameter for each item, and one request. No credential,
 * no checks, no time limit, no retry, no journal of orders.
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
		const answers: Array<Promise<object>> = [];
		const items = this.getInputData();
		let next = 0;
		const lane = async () => {
			while (next < items.length) {
				const item = next++;
				const content = this.getNodeParameter('text', item);
				answers[item] = this.helpers.httpRequest({
					method: 'POST',
					url: `${url}/v1/chat/completions`,
					headers: { Authorization: `Bearer ${apiKey}` },
					body: { model: chatModel, messages: [{ role: 'user', content }] },
					json: true,
				});
				await answers[item];
			}
		};
		await Promise.all(Array.from({ length: parallel }, lane));
		const made = await Promise.all(answers);
		return [this.helpers.returnJsonArray(made.map((answer) => ({ ...answer })))];
	},
});

/** Makes the node known, and gives one that takes `text` from its item. */
export function leastChat(target: Target, parallel: number): WorkflowJson['nodes'][number] {
	registerTypes({ nodes: [leastNode(target, parallel)] });
	return { name: measured, type: 'test.least', parameters: { text: '={{ $json.text }}' } };
}
