import type { IDataObject, IExecuteFunctions, INodeType } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { registerTypes, runWorkflow } from '../../harness';
import { agent } from '../../support/workflows/agent';
import {
	asTool,
	chain,
	createVideo,
	credentialFor,
	type NodeSettings,
	withSubNodes,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// An agent that is run again, or calls its tool again in other words.

/** How many tries of the agent fail after it has called its tool. */
let failures: number;
/** What the tool returned to all calls. */
let answers: string[];

const failingAgent: INodeType = {
	...agent,
	description: { ...agent.description, name: 'failingAgent' },
	async execute(this: IExecuteFunctions) {
		const output = await agent.execute?.call(this);
		const [items] = Array.isArray(output) ? output : [];
		answers.push(...items.map(({ json }) => String(json?.answer)));
		if (failures-- > 0) throw new Error('The chat model did not answer');
		return [[{ json: {} }]];
	},
};

let gateway: Gateway;

beforeAll(() => registerTypes({ nodes: [failingAgent] }));
beforeEach(() => {
	failures = 0;
	answers = [];
});
withGateway({ isTimeSimulated: true, jobSeconds: Infinity }, (world) => void ({ gateway } = world));

const run = async (tool: IDataObject = {}, settings: NodeSettings = {}) =>
	await runWorkflow(
		withSubNodes(
			chain({ name: 'Agent', type: 'test.failingAgent', parameters: { calls: 2 }, ...settings }),
			['ai_tool', asTool(createVideo(tool), 'Tool')],
		),
		{ credentials: credentialFor(gateway), input: [{ json: {} }], mode: 'trigger' },
	);

const jobsIn = (texts: string[]) =>
	texts.map((text) => gateway.ledger.find(({ job = '' }) => text.includes(job))?.job);

/** Expects that each try of the agent got the two videos that the first one ordered. */
function expectSameVideos(tries: number): void {
	const jobs = gateway.ledger.map(({ job }) => job);
	expect(jobs).toHaveLength(2);
	expect(jobsIn(answers)).toEqual(Array.from({ length: tries }, () => jobs).flat());
}

describe('an agent that fails after its tool has ordered', () => {
	it('gets its videos again in each try of Retry On Fail', async () => {
		failures = 2;
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		const result = await run({ options: { limits: { maxOrders: 2 } } }, settings);
		expect(result.status).toBe('success');
		expectSameVideos(3);
	});
});

describe('an agent that calls its tool in other words', () => {
	const reworded = { prompt: '=A boat, {{ Math.random() }}' };

	it('places no second order after a call whose response was lost, and reads what happened', async () => {
		gateway.fault({ route: 'videoCreate', action: 'reset', accepted: true });
		await run(reworded);
		for (const answer of answers) {
			expect(answer).toContain('the connection was lost before the response arrived');
		}
		expect(answers[1]).toContain('An earlier try has already sent this order');
		expect(gateway.ledger).toHaveLength(1);
	});
});
