import { setTimeout } from 'node:timers/promises';
import { ServiceError } from './errors';
import { isFinal } from '../nodes/shared/service/protocol/jobs';
import type { Job, Jobs } from './jobs';
import { loadMedia } from './media';
import type { VideoOrder } from './orders';
import { provocations } from './prompts';
import { frameSize, type RenderSpec } from './rendering';

interface ProductionOptions {
	/** The minimum time in seconds from the creation of a job to its completion. */
	jobSeconds: number | ((job: Job) => number);
	render(spec: RenderSpec): Promise<Uint8Array>;
	/** Aborts when the gateway closes. */
	closing: AbortSignal;
}

/** The maximum time in seconds that a job waits in the queue. */
const maxQueueSeconds = 1.5;

/** Takes jobs from the queue to their end, independently of requests. */
export class Production {
	constructor(
		private readonly jobs: Jobs,
		private readonly options: ProductionOptions,
	) {}

	/** Runs one job to its end. Never rejects: a failure is the outcome of the job. */
	async run(job: Job): Promise<void> {
		const { jobSeconds, closing } = this.options;
		try {
			const seconds = typeof jobSeconds === 'number' ? jobSeconds : jobSeconds(job);
			const queueSeconds = Math.min(seconds / 4, maxQueueSeconds);
			await pause(queueSeconds, closing);
			// A test may have forced the outcome by now.
			if (isFinal(job.phase)) return;

			this.jobs.start(job.id);
			const [video] = await Promise.all([
				this.make(job.order),
				pause(seconds - queueSeconds, closing),
			]);
			this.jobs.complete(job.id, video);
		} catch (error) {
			if (!closing.aborted) this.jobs.fail(job.id, failure(error).detail);
		}
	}

	private async make(order: VideoOrder): Promise<Uint8Array> {
		const { prompt, shortSide, ratio, seconds, watermark, seed } = order;
		if (prompt.includes(provocations.failure)) {
			throw new ServiceError(500, 'upstream_error', 'the prompt asked the job to fail');
		}
		const media = await loadMedia(order.media, this.options.closing);
		const firstFrame = media.find(({ type }) => type === 'first_frame');
		return await this.options.render({
			...frameSize(shortSide, firstFrame?.shape ?? ratio),
			seconds,
			caption: prompt,
			watermark,
			seed,
			media: media.map(({ type, bytes }) => ({ type, bytes })),
		});
	}
}

async function pause(seconds: number, signal: AbortSignal): Promise<void> {
	// The delay of a timer has 31 bits, so an endless job lasts 24 days.
	await setTimeout(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, { signal });
}

function failure(error: unknown): ServiceError {
	if (error instanceof ServiceError) return error;
	const message = error instanceof Error ? error.message : String(error);
	return new ServiceError(500, 'upstream_error', message);
}
