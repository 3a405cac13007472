import { AsyncLocalStorage } from 'node:async_hooks';

/** A process of n8n, which a test can kill: its executions store and send nothing from then on. */
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
