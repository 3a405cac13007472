import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Exchange } from './actions';

// Faults that leave the true answer as it is and spoil the way it travels. Each gives the body to send.

/** What fastify sends: JSON and pages as text, files as streams that have declared their length. */
export type Body = string | Buffer | Readable | null | undefined;

/** A number of bytes, or a share of the body. */
export type Position = number | `${number}%`;

const compressors = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync } as const;
export type Encoding = keyof typeof compressors;

export async function compress({ reply, body }: Exchange, encoding: Encoding): Promise<Buffer> {
	reply.header('content-encoding', encoding).removeHeader('content-length');
	return compressors[encoding](await buffer(streamOf(body)));
}

const dripsPerSecond = 10;

export function drip({ reply, body }: Exchange, bytesPerSecond: number): Readable {
	declareLength(reply, body);
	const size = Math.max(1, Math.round(bytesPerSecond / dripsPerSecond));
	async function* drops(): AsyncGenerator<Buffer> {
		for await (const piece of streamOf(body)) {
			for (let start = 0; start < piece.length; start += size) {
				yield piece.subarray(start, start + size);
				await setTimeout((1000 * size) / bytesPerSecond, undefined, { ref: false });
			}
		}
	}
	return Readable.from(drops());
}

export function cut({ reply, body }: Exchange, after: Position): Readable {
	const kept = bytesUntil(after, declareLength(reply, body));
	hangUpAtEnd(reply);
	return Readable.from(firstBytes(body, kept));
}

export function freeze({ reply, body }: Exchange, after: Position): Readable {
	const kept = bytesUntil(after, declareLength(reply, body));
	async function* start(): AsyncGenerator<Buffer> {
		yield* firstBytes(body, kept);
		await new Promise(() => {});
	}
	return Readable.from(start());
}

/** Bytes beyond the declared length are not sent: no client reads them as part of this body. */
export function misdeclare({ reply, body }: Exchange, by: number): Readable {
	const declared = declareLength(reply, body) + by;
	reply.header('content-length', declared);
	hangUpAtEnd(reply);
	return Readable.from(firstBytes(body, declared));
}

async function* firstBytes(body: Body, count: number): AsyncGenerator<Buffer> {
	let left = count;
	for await (const piece of streamOf(body)) {
		yield piece.subarray(0, left);
		left -= piece.length;
		if (left <= 0) return;
	}
}

/** Lets the connection end where the body ends, whatever was declared, as a broken line does. */
function hangUpAtEnd({ raw }: FastifyReply): void {
	raw.end = () => {
		raw.flushHeaders();
		raw.socket?.destroySoon();
		return raw;
	};
}

function bytesUntil(position: Position, length: number): number {
	if (typeof position === 'number') return position;
	return Math.floor((length * parseFloat(position)) / 100);
}

function streamOf(body: Body): Readable {
	if (body instanceof Readable) return body;
	return Readable.from(body ? [Buffer.from(body)] : []);
}

/** Declares, before a text becomes a stream, the length that it had. Gives the length. */
function declareLength(reply: FastifyReply, body: Body): number {
	if (!(body instanceof Readable)) reply.header('content-length', Buffer.byteLength(body ?? ''));
	return Number(reply.getHeader('content-length'));
}
