import { AsyncLocalStorage } from 'node:async_hooks';

import { jobTurns } from '../../nodes/shared/gateway/client/jobTurns';
import { locks } from '../../nodes/shared/n8n/orders/locks';
import { claimsByLimit } from '../../nodes/shared/n8n/orders/dayLimit';
import { processMemory } from '../../nodes/shared/n8n/orders/shelves';

/**
 * A process of n8n, which a test can kill: its executions store and send nothing from then on. Executions outside of
 * any share one process, which nobody kills.
 */
export class EngineProcess {
	private end = () => {};
	private readonly ended = new Promise<'killed'>((resolve) => (this.end = () => resolve('killed')));
	private isDead = false;

	/** @returns what `work` does, or `killed` as soon as the process is */
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

/** The process of whoever asks; undefined for a test that kills none. */
export const currentProcess = (): EngineProcess | undefined => current.getStore();

/**
 * Lets each process see entries of its own in this map. A process that is killed takes them along, and what its
 * executions still write, until they notice, reaches no other.
 */
export function separateByProcess<Key, Value>(memory: Map<Key, Value>): void {
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
separateByProcess(claimsByLimit);
separateByProcess(locks);
separateByProcess(jobTurns);
