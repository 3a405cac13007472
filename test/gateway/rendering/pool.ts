import type { Worker } from 'node:worker_threads';

/** What a worker is told that has to end. */
export const endOfWork = 'end';

/** What a worker posts back for the task it was posted. */
export type Answer<Result> = { result: Result } | { error: string };

interface Job<Task, Result> {
	task: Task;
	resolve(result: Result): void;
	reject(error: Error): void;
}

export interface PoolOptions {
	/** Most workers alive at once. */
	size: number;
	startWorker(): Worker;
	/** How a worker ends, whatever it is at; by default at once. */
	endWorker?(worker: Worker): Promise<unknown>;
}

/**
 * Runs tasks on worker threads in the order they came, one at a time per worker.
 * Workers start when there is work for them and stay, so only the first tasks wait for the start.
 */
export class WorkerPool<Task, Result> {
	private readonly queue: Array<Job<Task, Result>> = [];
	private readonly workers = new Set<Worker>();
	private readonly busy = new Map<Worker, Job<Task, Result>>();
	private closed = false;

	constructor(private readonly options: PoolOptions) {}

	/** Rejects with the worker's error, when the worker crashes, and when the pool is closed first. */
	async run(task: Task): Promise<Result> {
		if (this.closed) throw new Error('The worker pool is closed.');
		return await new Promise((resolve, reject) => {
			this.queue.push({ task, resolve, reject });
			this.dispatch();
		});
	}

	/** Ends the workers; tasks that have not finished are rejected. */
	async close(): Promise<void> {
		this.closed = true;
		const unfinished = [...this.busy.values(), ...this.queue.splice(0)];
		this.busy.clear();
		for (const job of unfinished) job.reject(new Error('The worker pool was closed.'));
		const { endWorker = async (worker: Worker) => await worker.terminate() } = this.options;
		await Promise.all([...this.workers].map(endWorker));
	}

	private dispatch(): void {
		while (this.queue.length > 0) {
			const worker = this.freeWorker();
			if (!worker) return;
			const job = this.queue.shift()!;
			this.busy.set(worker, job);
			worker.postMessage(job.task);
		}
	}

	private freeWorker(): Worker | undefined {
		for (const worker of this.workers) if (!this.busy.has(worker)) return worker;
		return this.workers.size < this.options.size ? this.addWorker() : undefined;
	}

	private addWorker(): Worker {
		const worker = this.options.startWorker();
		this.workers.add(worker);
		worker.on('message', (answer: Answer<Result>) => {
			const job = this.finish(worker);
			if ('error' in answer) job?.reject(new Error(answer.error));
			else job?.resolve(answer.result);
			this.dispatch();
		});
		worker.on('error', (cause) => {
			this.replace(worker, new Error(`The worker crashed: ${cause.message}`, { cause }));
		});
		worker.on('exit', (code) => {
			this.replace(worker, new Error(`The worker ended unexpectedly with exit code ${code}.`));
		});
		return worker;
	}

	private finish(worker: Worker): Job<Task, Result> | undefined {
		const job = this.busy.get(worker);
		this.busy.delete(worker);
		return job;
	}

	/** The job that broke a worker is not tried again: it would break the next one as well. */
	private replace(worker: Worker, error: Error): void {
		this.workers.delete(worker);
		this.finish(worker)?.reject(error);
		this.dispatch();
	}
}
