import type { IDataObject, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { testNode } from './testNode';

interface Tool {
	invoke(input: IDataObject): Promise<unknown>;
}

/** Calls its tool a given number of times with what it receives, as an agent would, and outputs what the tool returned. */
export const agent = testNode(
	'agent',
	{
		inputs: ['main', 'ai_tool'],
		properties: [
			{ displayName: 'Calls', name: 'calls', type: 'number', default: 1 },
			{ displayName: 'Parallel', name: 'parallel', type: 'boolean', default: false },
		],
	},
	async function () {
		const connected = await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
		const [tool] = [connected].flat() as Tool[];
		const [{ json: input }] = this.getInputData();
		const call = async () =>
			await tool.invoke(input).catch((error: Error) => `Failed: ${error.message}`);
		const results: IDataObject[] = [];
		const calls = Number(this.getNodeParameter('calls', 0));
		if (this.getNodeParameter('parallel', 0) === true) {
			const all = await Promise.all(Array.from({ length: calls }, call));
			results.push(...all.map((answer) => ({ answer: String(answer) })));
		} else {
			while (results.length < calls) results.push({ answer: String(await call()) });
		}
		return [results.map((json) => ({ json, pairedItem: { item: 0 } }))];
	},
);

/** Calls its tool for a client outside n8n. It differs from the agent by its name only. */
export const mcpTrigger: INodeType = {
	...agent,
	description: { ...agent.description, name: 'mcpTrigger' },
};
