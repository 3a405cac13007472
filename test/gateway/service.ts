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

/** What the routes share. */
export interface Service {
	accounts: Accounts;
	idempotencyKeys: IdempotencyKeys;
	jobs: Jobs;
	production: Production;
	links: Links;
	/** Makes a PNG. */
	draw: (spec: PictureSpec) => Promise<Uint8Array>;
	/** Generated pictures by id. */
	images: Map<string, StoredFile>;
	storageUrl: string;
	/** What the chat models say next, whatever they are asked. */
	script: ScriptStep[];
	/** How long a call that makes no job takes before it is answered. */
	answerMilliseconds: number;
	/** How long each piece of a streamed answer takes. */
	tokenMilliseconds: number;
	/** Milliseconds since 1970. */
	now: () => number;
}

/** Takes a well-formed order: what the key may not have is refused, the rest is billed and begun. */
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
 * Begins a call that makes no job: what the key may not have is refused, and the answer takes its time.
 * The route names the purchase, which is billed once the answer has been sent.
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

/** A fresh signed link to the job's video. */
export function linkTo({ links, storageUrl }: Service, job: Job): string {
	return links.sign(storageUrl + videoPath(job.id));
}

/** Stores a picture, and gives a signed link to it, which lasts as others do, or at most so long. */
export function publish(
	{ images, links, storageUrl }: Service,
	png: Uint8Array,
	linkSeconds?: number,
): string {
	const id = `image_${randomUUID()}`;
	images.set(id, storedFile(png, 'image/png'));
	return links.sign(storageUrl + imagePath(id), linkSeconds);
}
