import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import type { RenderSpec } from './spec';

/** The message that makes a worker exit. */
export const endOfWork = 'end';

/** The message that a worker posts back for each video. */
export type Answer = { video: Uint8Array } | { error: string };

interface Job {
	spec: RenderSpec;
	resolve(video: Uint8Array): void;
	reject(error: Error): void;
}

interface RendererOptions {
	/** Videos rendered at the same time. Default: half the cores, because the encoder has its own threads. */
	workers?: number;
}

/**
 * Renders videos on worker threads, in the order of the calls, so that the caller's event loop stays free. Workers
 * start when there is work and keep running, so only the first videos wait for the start. Close it after use.
 */
export class Renderer {
	private readonly size: number;
	private readonly queue: Job[] = [];
	/** Each worker, and its current job. */
	private readonly workers = new Map<Worker, Job | undefined>();
	private closed = false;

	constructor({ workers = Math.ceil(availableParallelism() / 2) }: RendererOptions = {}) {
		this.size = workers;
	}

	/**
	 * Returns an H.264 mp4 with exactly `seconds` * 24 frames and its index at the front. Rejects when a media item
	 * cannot be decoded; the message names the item.
	 */
	async render(spec: RenderSpec): Promise<Uint8Array> {
		if (this.closed) throw new Error('The renderer is closed.');
		return await new Promise((resolve, reject) => {
			this.queue.push({ spec, resolve, reject });
			this.dispatch();
		});
	}

	/** Stops the workers, and rejects unfinished videos. */
	async close(): Promise<void> {
		this.closed = true;
		for (const { reject } of this.queue.splice(0)) reject(new Error('The renderer was closed.'));
		await Promise.all([...this.workers.keys()].map(endWorker));
	}

	private dispatch(): void {
		while (this.queue.length > 0) {
			const worker = this.freeWorker();
			if (!worker) return;
			const job = this.queue.shift()!;
			this.workers.set(worker, job);
			worker.postMessage(job.spec);
		}
	}

	private freeWorker(): Worker | undefined {
		for (const [worker, job] of this.workers) if (!job) return worker;
		return this.workers.size < this.size ? this.addWorker() : undefined;
	}

	private addWorker(): Worker {
		const worker = startWorker();
		this.workers.set(worker, undefined);
		worker.on('message', (answer: Answer) => {
			const job = this.workers.get(worker);
			this.workers.set(worker, undefined);
			if ('error' in answer) job?.reject(new Error(answer.error));
			else job?.resolve(answer.video);
			this.dispatch();
		});
		worker.on('error', (cause) => this.remove(worker, `crashed: ${cause.message}`));
		worker.on('exit', (code) => this.remove(worker, `ended with exit code ${code}`));
		return worker;
	}

	/** A video that crashed a worker is not tried again: it would crash the next one as well. */
	private remove(worker: Worker, what: string): void {
		this.workers.get(worker)?.reject(new Error(`The worker ${what}.`));
		this.workers.delete(worker);
		this.dispatch();
	}
}

/**
 * The worker is TypeScript, which the hook of tsx loads, whether this file runs under tsx or under jest. The hook needs
 * `--require`: with `--import`, Node 20 refuses a worker whose entry is a .ts file.
 */
function startWorker(): Worker {
	return new Worker(join(__dirname, 'worker.ts'), {
		execArgv: ['--require', require.resolve('tsx/cjs')],
	});
}

/** The worker exits by itself: terminating a thread while it encodes can crash the process. */
async function endWorker(worker: Worker): Promise<void> {
	worker.postMessage(endOfWork);
	await once(worker, 'exit');
}
