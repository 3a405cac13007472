import type { FastifyRequest } from 'fastify';
import type { Accounts } from './accounts';
import type { Job, Jobs } from './jobs';
import type { Links } from './links';
import type { VideoOrder } from './orders';
import type { Production } from './production';
import { videoPath } from './storage';

/** What the routes share. */
export interface Service {
	accounts: Accounts;
	jobs: Jobs;
	production: Production;
	links: Links;
	storageUrl: string;
	/** Milliseconds since 1970. */
	now: () => number;
}

/** Takes a well-formed order: what the key may not have is refused, the rest is billed and begun. */
export function accept(
	{ jobs, production }: Service,
	{ account, record }: FastifyRequest,
	order: VideoOrder,
): Job {
	account.requirePermission(order.model);
	account.requireBalance();
	const job = jobs.create(order, record.requestId);
	record.jobId = job.id;
	account.charge(job);
	void production.run(job);
	return job;
}

/** A fresh signed link to the job's video. */
export function linkTo({ links, storageUrl }: Service, job: Job): string {
	return links.sign(storageUrl + videoPath(job.id));
}
