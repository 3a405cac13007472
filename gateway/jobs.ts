import { randomUUID } from 'node:crypto';
import type { EventEmitter } from 'node:events';
import { isFinal, type JobKind, type Phase } from '../nodes/shared/service/protocol/jobs';
import type { GatewayEvents } from './events';
import { storedFile, type StoredFile } from './files';
import type { VideoOrder } from './orders';

/** A video job. It has a phase, which the routes translate into their own states. */
export interface Job {
	readonly id: string;
	readonly order: VideoOrder;
	/** The request that created it. */
	readonly requestId: string;
	/** Milliseconds since 1970. */
	readonly createdAt: number;
	phase: Phase;
	/** Percent. */
	progress: number;
	/** Set once the job has succeeded. */
	video?: StoredFile;
	/** Set once the job has failed: what its poll returns, unchanged. */
	error?: unknown;
}

/**
 * Every job of both kinds. Each change emits `job`. Tests force an outcome with `complete` and `fail`. The first
 * outcome of a job is final.
 */
export class Jobs {
	private readonly jobs = new Map<string, Job>();

	constructor(
		private readonly events: EventEmitter<GatewayEvents>,
		private readonly now: () => number,
	) {}

	list(): Job[] {
		return [...this.jobs.values()];
	}

	get(id: string): Job | undefined {
		return this.jobs.get(id);
	}

	find(kind: JobKind, id: string): Job | undefined {
		const job = this.jobs.get(id);
		return job?.order.kind === kind ? job : undefined;
	}

	create(order: VideoOrder, requestId: string, id = `${order.kind}_${randomUUID()}`): Job {
		const job: Job = {
			id,
			order,
			requestId,
			createdAt: this.now(),
			phase: 'queued',
			progress: 0,
		};
		this.jobs.set(id, job);
		this.events.emit('job', job);
		return job;
	}

	/** "Resources": the progress often stays at 30 while the job runs, as it does here. */
	start(id: string): void {
		this.change(id, { phase: 'running', progress: 30 });
	}

	/** Completes the job with this mp4. */
	complete(id: string, video: Uint8Array): void {
		this.change(id, { phase: 'succeeded', progress: 100, video: storedFile(video, 'video/mp4') });
	}

	/** Fails the job with this `error` field, or without the field. It has any form: the specification shows none. */
	fail(id: string, error?: unknown): void {
		this.change(id, { phase: 'failed', error });
	}

	private change(id: string, change: Partial<Job>): void {
		const job = this.jobs.get(id);
		if (!job) throw new Error(`No job has the id ${id}`);
		if (isFinal(job.phase)) return;

		Object.assign(job, change);
		this.events.emit('job', job);
	}
}
