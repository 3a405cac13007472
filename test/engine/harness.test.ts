import { EventEmitter, once } from 'node:events';
import type { INodeType } from 'n8n-workflow';
import { EngineProcess, registerTypes, runWorkflow, separateByProcess } from '../harness';

/** What a module of a node may hold. */
const memory = new Map<unknown, unknown>();
separateByProcess(memory);
const moments = new EventEmitter();

/** Writes when it begins, at Stop, and when it ends. */
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

describe('a process of n8n', () => {
	/** Presses Stop when the node has begun, but from here, not from within the process. */
	const stopped = async (n8n?: EngineProcess) => {
		let stop = () => {};
		const workflow = { nodes: [{ name: 'Writing', type: 'test.writing' }] };
		const settings = { startNode: 'Writing', onStart: (cancel: () => void) => (stop = cancel) };
		const run = async () => await runWorkflow(workflow, settings);
		const begun = once(moments, 'begun');
		const execution = n8n ? n8n.run(run) : run();
		await begun;
		return { execution, stop };
	};

	test('keeps the memory of its modules to itself, also what is written at Stop', async () => {
		const worker = new EngineProcess();
		const { execution, stop } = await stopped(worker);
		stop();
		await execution;
		expect(memory.size).toBe(0);
		const seen = await worker.run(async () => [...memory.keys()]);
		expect(seen).toEqual(['begun', 'stopped', 'ended']);
		expect(await new EngineProcess().run(async () => memory.size)).toBe(0);
	});

	test('loses its memory when it is killed, with what its executions write later', async () => {
		const n8n = new EngineProcess();
		const { execution, stop } = await stopped(n8n);
		n8n.kill();
		expect(await execution).toBe('killed');
		const ended = once(moments, 'ended');
		stop();
		await ended;
		expect([...memory]).toEqual([]);
	});

	test('shares its memory with whatever runs outside of any', async () => {
		const { execution, stop } = await stopped();
		stop();
		await execution;
		expect(memory.size).toBe(3);
		expect(memory.get('ended')).toBe(true);
		memory.clear();
		expect([...memory]).toEqual([]);
	});
});
