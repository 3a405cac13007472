import type { IDataObject, IExecuteFunctions, INode, INodeType } from 'n8n-workflow';
import { NodeConnectionTypes } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import { nodeTypes, registerTypes, runWorkflow, type WorkflowJson } from '../harness';
import { sampleVideo } from './support/samples';
import { byId, credentialFor } from './support/workflows';

interface Tool {
	invoke(input: IDataObject): Promise<unknown>;
}

/** Calls its tool as often as it is told, as an agent would, and puts out what the tool said. */
const agent: INodeType = {
	description: {
		...{ displayName: 'Agent', name: 'agent', group: ['transform'], version: 1 },
		...{ description: 'Calls a tool', defaults: { name: 'Agent' } },
		inputs: [NodeConnectionTypes.Main, NodeConnectionTypes.AiTool],
		outputs: [NodeConnectionTypes.Main],
		properties: [{ displayName: 'Calls', name: 'calls', type: 'number', default: 1 }],
	},
	async execute(this: IExecuteFunctions) {
		const connected = await this.getInputConnectionData(NodeConnectionTypes.AiTool, 0);
		const [tool] = [connected].flat() as Tool[];
		const said: IDataObject[] = [];
		for (let call = 0; call < Number(this.getNodeParameter('calls', 0)); call++) {
			const answer = await tool.invoke({}).catch((error: Error) => `Failed: ${error.message}`);
			said.push({ answer: String(answer) });
		}
		return [said.map((json) => ({ json, pairedItem: { item: 0 } }))];
	},
};

/** The node as n8n offers it to agents: without inputs, and with a tool as its output. */
function asTool(name: string): INodeType {
	const node = nodeTypes.getByNameAndVersion(`n8n-nodes-model-gateway.${name}`);
	const io = { name: `${name}Tool`, inputs: [], outputs: [NodeConnectionTypes.AiTool] };
	return { description: { ...node.description, ...io }, execute: node.execute };
}

describe('as a tool of an agent', () => {
	let gateway: Gateway;
	let video: Uint8Array;

	beforeAll(async () => {
		video = await sampleVideo();
		registerTypes({ nodes: [agent, asTool('modelGateway'), asTool('modelGatewayWaitForVideo')] });
	});
	beforeEach(async () => {
		gateway = await startGateway({ jobSeconds: Infinity, render: async () => video });
	});
	afterEach(async () => await gateway.close());

	const answers = async (
		name: string,
		parameters: object,
		settings: Partial<INode> = {},
		calls = 1,
	) => {
		const tool = { name: 'Tool', type: `test.${name}Tool`, parameters, ...settings };
		const workflow = {
			nodes: [
				{ name: 'Start', type: 'n8n-nodes-base.manualTrigger' },
				{ name: 'Agent', type: 'test.agent', parameters: { calls } },
				tool,
			],
			connections: {
				Start: { main: [[{ node: 'Agent', type: 'main', index: 0 }]] },
				Tool: { ai_tool: [[{ node: 'Agent', type: 'ai_tool', index: 0 }]] },
			},
		} as WorkflowJson;
		const result = await runWorkflow(workflow, { credentials: credentialFor(gateway) });
		return result.items('Agent').map(({ json }) => String(json.answer));
	};
	const create = {
		...{ resource: 'video', operation: 'create', model: byId('vid-3.1') },
		...{ prompt: 'A boat', toolDescription: 'Creates a video' },
	};

	it('Create tells the id of the job', async () => {
		const [answer] = await answers('modelGateway', create);
		expect(answer).toContain(gateway.ledger[0].job);
	});

	it('Wait for Video tells the id and the link', async () => {
		const [answer] = await answers('modelGateway', create);
		const { id } = (JSON.parse(answer) as [{ id: string }])[0];
		gateway.jobs.complete(id, video);
		const wait = { jobId: id, download: false, toolDescription: 'Waits for a video' };
		const [waited] = await answers('modelGatewayWaitForVideo', wait);
		expect(waited).toContain(id);
		expect(waited).toContain(`"url":"${gateway.storageUrl}`);
	});

	it('Create makes a new video at each call that succeeds', async () => {
		await answers('modelGateway', create, {}, 2);
		expect(gateway.ledger).toHaveLength(2);
	});

	it('Create is not sent again by a retry when its answer was lost', async () => {
		gateway.fault({ route: 'videoCreate', action: 'reset', accepted: true });
		const retry = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		const [answer] = await answers('modelGateway', create, retry);
		expect(answer).toContain('the connection was lost before the answer came');
		expect(gateway.ledger).toHaveLength(1);
	});
});
