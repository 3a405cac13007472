import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import { endOfWork, WorkerPool } from './pool';
import type { RenderSpec } from './spec';

export { mainColour } from './colour';
export { frameSize } from './frameSize';
export { decodeImage, probeImage } from './image';
export { drawPicture, type PictureSpec } from './picture';
export { repaint } from './repaint';
export type { ReferenceMedia, RenderSpec, Size } from './spec';

export interface RendererOptions {
	/** Videos rendered at the same time. By default half the cores: the encoder has threads of its own. */
	workers?: number;
}

/** Renders videos on worker threads, so that the caller's event loop stays free. Close it after use. */
export class Renderer {
	private readonly pool: WorkerPool<RenderSpec, Uint8Array>;

	constructor({ workers = Math.ceil(availableParallelism() / 2) }: RendererOptions = {}) {
		this.pool = new WorkerPool({ size: workers, startWorker, endWorker });
	}

	/**
	 * Gives an H.264 mp4 with exactly `seconds` * 24 frames and its index at the front.
	 * Rejects when a media item cannot be decoded; the message names the item.
	 */
	async render(spec: RenderSpec): Promise<Uint8Array> {
		return await this.pool.run(spec);
	}

	/** Ends the workers; videos that are not finished are rejected. */
	async close(): Promise<void> {
		await this.pool.close();
	}
}

/**
 * The worker is TypeScript: the hook of tsx loads it, whether this file runs under tsx or under jest.
 * `--require` and not `--import`, with which Node 20 refuses a worker whose entry is a .ts file.
 */
function startWorker(): Worker {
	return new Worker(join(__dirname, 'worker.ts'), {
		execArgv: ['--require', require.resolve('tsx/cjs')],
	});
}

/** It comes to its end by itself: a thread that is terminated while it encodes can take the process with it. */
async function endWorker(worker: Worker): Promise<void> {
	worker.postMessage(endOfWork);
	await once(worker, 'exit');
}
