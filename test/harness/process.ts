import { AsyncLocalStorage } from 'node:async_hooks';

import { nextPolls } from '../../nodes/shared/service/client/sendInTurn';
import { processMemory } from '../../nodes/shared/n8n/execution/processMemory';

/**
 * A process of n8n that a test can kill: from then on, its executions store and send nothing. Executions outside any
 * EngineProcess share one process that is never killed.
 */
export class EngineProcess {
	private end = () => {};
	private readonly ended = new Promise<'killed'>((resolve) => (this.end = () => resolve('killed')));
	private isDead = false;

	/** @returns the result of `work`, or `killed` as soon as the process is killed */
	async run<T>(work: () => Promise<T>): Promise<T | 'killed'> {
		return await Promise.race([current.run(this, work), this.ended]);
	}

	kill(): void {
		this.isDead = true;
		this.end();
	}

	get isKilled(): boolean {
		return this.isDead;
	}
}

const current = new AsyncLocalStorage<EngineProcess>();

/** The process of the calling code; undefined for a test that does not kill any. */
export const currentProcess = (): EngineProcess | undefined => current.getStore();

/**
 * Gives each process its own entries in this map. They are lost with a killed process, and what its executions still
 * write before they notice reaches no other process.
 */
function separateByProcess<Key, Value>(memory: Map<Key, Value>): void {
	const shared = new Map(memory);
	const own = new WeakMap<EngineProcess, Map<Key, Value>>();
	const entries = () => {
		const process = currentProcess();
		if (!process) return shared;
		const found = own.get(process) ?? new Map<Key, Value>();
		own.set(process, found);
		return found;
	};
	for (const name of Reflect.ownKeys(Map.prototype)) {
		Object.defineProperty(memory, name, {
			get() {
				const target = entries();
				const member: unknown = Reflect.get(target, name, target);
				return typeof member === 'function' ? member.bind(target) : member;
			},
		});
	}
}

separateByProcess(processMemory);
separateByProcess(nextPolls);
