import { EventEmitter, once } from 'node:events';
import type { INodeType } from 'n8n-workflow';
import { EngineProcess, registerTypes, runWorkflow, separateByProcess } from '../harness';

/** Stands for the memory of a node's module. */
const memory = new Map<unknown, unknown>();
separateByProcess(memory);
const moments = new EventEmitter();

/** Writes to the memory when it starts, at Stop, and when it ends. */
const writing: INodeType = {
	description: {
		...{ displayName: 'Writing', name: 'writing', description: 'A node of this test' },
		...{ group: ['transform'], version: 1, defaults: { name: 'Writing' } },
		...{ inputs: ['main'], outputs: ['main'], properties: [] },
	},
	async execute() {
		memory.set('begun', true);
		const signal = this.getExecutionCancelSignal() as AbortSignal;
		signal.addEventListener('abort', () => memory.set('stopped', true));
		moments.emit('begun');
		await once(signal, 'abort');
		memory.set('ended', true);
		moments.emit('ended');
		return [[]];
	},
};

registerTypes({ nodes: [writing] });

describe('processes of n8n', () => {
	/** Starts an execution. Its `stop` presses Stop from the test, not from within the process. */
	const startExecution = async (n8n?: EngineProcess) => {
		let stop = () => {};
		const workflow = { nodes: [{ name: 'Writing', type: 'test.writing' }] };
		const settings = { startNode: 'Writing', onStart: (cancel: () => void) => (stop = cancel) };
		const run = async () => await runWorkflow(workflow, settings);
		const begun = once(moments, 'begun');
		const execution = n8n ? n8n.run(run) : run();
		await begun;
		return { execution, stop };
	};

	test('keeps the module memory of a process separate, including writes at Stop', async () => {
		const worker = new EngineProcess();
		const { execution, stop } = await startExecution(worker);
		stop();
		await execution;
		expect(memory.size).toBe(0);
		const seen = await worker.run(async () => [...memory.keys()]);
		expect(seen).toEqual(['begun', 'stopped', 'ended']);
		expect(await new EngineProcess().run(async () => memory.size)).toBe(0);
	});

	test('discards the memory of a killed process, including what its executions write later', async () => {
		const n8n = new EngineProcess();
		const { execution, stop } = await startExecution(n8n);
		n8n.kill();
		expect(await execution).toBe('killed');
		const ended = once(moments, 'ended');
		stop();
		await ended;
		expect([...memory]).toEqual([]);
	});

	test('shares memory between the test and an execution outside of any process', async () => {
		const { execution, stop } = await startExecution();
		stop();
		await execution;
		expect(memory.size).toBe(3);
		expect(memory.get('ended')).toBe(true);
		memory.clear();
		expect([...memory]).toEqual([]);
	});
});
