import type { FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Accounts } from './accounts';
import type { ScriptStep } from './chat/script';
import { storedFile, type StoredFile } from './files';
import type { IdempotencyKeys } from './idempotency';
import type { Job, Jobs } from './jobs';
import type { Links } from './links';
import type { VideoOrder } from './orders';
import type { Production } from './production';
import type { PictureSpec } from './rendering';
import { imagePath, videoPath } from './storage';

/** The parts that the routes share. */
export interface Service {
	accounts: Accounts;
	idempotencyKeys: IdempotencyKeys;
	jobs: Jobs;
	production: Production;
	links: Links;
	/** Makes a PNG. */
	draw: (spec: PictureSpec) => Promise<Uint8Array>;
	/** Generated images by ID. */
	images: Map<string, StoredFile>;
	storageUrl: string;
	/** The next turns of the chat models, whatever the requests are. */
	script: ScriptStep[];
	/** The delay before the response to a chat, a message, an embedding or an image. */
	answerMilliseconds: number;
	/** The delay before each piece of a streamed answer. */
	tokenMilliseconds: number;
	/** Milliseconds since 1970. */
	now: () => number;
}

/** Accepts a valid order: charges it and begins its job, unless the key has no permission or balance for it. */
export function accept(
	{ jobs, production }: Service,
	{ account, record }: FastifyRequest,
	order: VideoOrder,
): Job {
	const { kind, model } = order;
	account.requirePermission(model);
	account.requireBalance();
	const job = jobs.create(order, record.requestId);
	record.jobId = job.id;
	account.charge({ kind, job: job.id, model, quantity: 1, unit: 'video' }, record.requestId);
	void production.run(job);
	return job;
}

/**
 * Begins a call that creates no job: checks the permission and the balance of the key, and delays the response. The
 * route sets the purchase, which is charged once the response has been sent.
 */
export async function begin(
	{ answerMilliseconds }: Service,
	{ account, over }: FastifyRequest,
	model: string,
): Promise<void> {
	account.requirePermission(model);
	over.throwIfAborted();
	over.addEventListener('abort', account.hold(), { once: true });
	await setTimeout(answerMilliseconds, undefined, { signal: over });
}

/** A new signed link to the job's video. */
export function linkTo({ links, storageUrl }: Service, job: Job): string {
	return links.sign(storageUrl + videoPath(job.id));
}

/** Stores an image. @param linkSeconds lifetime of its link, if shorter than that of other links @returns the link */
export function publish(
	{ images, links, storageUrl }: Service,
	png: Uint8Array,
	linkSeconds?: number,
): string {
	const id = `image_${randomUUID()}`;
	images.set(id, storedFile(png, 'image/png'));
	return links.sign(storageUrl + imagePath(id), linkSeconds);
}
