import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Exchange } from './actions';

// Faults that keep the content of the real response and disturb its transfer. Each returns the body to send.

/** A body of fastify: JSON and pages are text, files are streams with a declared length, events are streams. */
export type Body = string | Buffer | Readable | null | undefined;

/** A number of bytes, or a share of the body. */
export type Position = number | `${number}%`;

const compressors = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync } as const;
export type Encoding = keyof typeof compressors;

export async function compress({ reply, body }: Exchange, encoding: Encoding): Promise<Buffer> {
	reply.header('content-encoding', encoding).removeHeader('content-length');
	return compressors[encoding](await buffer(bytesOf(body)));
}

const dripsPerSecond = 50;

export function drip({ reply, body }: Exchange, bytesPerSecond: number): Readable {
	declareLength(reply, body);
	const size = Math.max(1, Math.round(bytesPerSecond / dripsPerSecond));
	async function* drops(): AsyncGenerator<Buffer> {
		for await (const piece of bytesOf(body)) {
			for (let start = 0; start < piece.length; start += size) {
				// The pause is before each piece, not after it: after the last piece, the response is sent.
				await setTimeout((1000 * size) / bytesPerSecond, undefined, { ref: false });
				yield piece.subarray(start, start + size);
			}
		}
	}
	return Readable.from(drops());
}

export async function cut(exchange: Exchange, after: Position): Promise<Readable> {
	const start = await startOf(exchange, after);
	hangUpAtEnd(exchange.reply);
	return Readable.from(start);
}

export async function freeze(exchange: Exchange, after: Position): Promise<Readable> {
	const start = await startOf(exchange, after);
	async function* frozen(): AsyncGenerator<Buffer> {
		yield* start;
		await new Promise(() => {});
	}
	return Readable.from(frozen());
}

/** Bytes beyond the declared length are not sent, because no client reads them as part of this body. */
export async function misdeclare({ reply, body }: Exchange, by: number): Promise<Readable> {
	const { whole, length } = await measure(reply, body);
	reply.header('content-length', length + by);
	hangUpAtEnd(reply);
	return Readable.from(firstBytes(whole, length + by));
}

/** The bytes of the response before a position in it. */
async function startOf(
	{ reply, body }: Exchange,
	position: Position,
): Promise<AsyncGenerator<Buffer>> {
	if (typeof position === 'number') {
		declareLength(reply, body);
		return firstBytes(body, position);
	}
	const { whole, length } = await measure(reply, body);
	return firstBytes(whole, Math.floor((length * parseFloat(position)) / 100));
}

async function* firstBytes(body: Body, count: number): AsyncGenerator<Buffer> {
	let left = count;
	for await (const piece of bytesOf(body)) {
		yield piece.subarray(0, left);
		left -= piece.length;
		if (left <= 0) return;
	}
}

/** Closes the connection at the end of the body, whatever its declared length, like a broken connection. */
function hangUpAtEnd({ raw }: FastifyReply): void {
	raw.end = () => {
		raw.flushHeaders();
		raw.socket?.destroySoon();
		return raw;
	};
}

async function* bytesOf(body: Body): AsyncGenerator<Buffer> {
	const pieces = body instanceof Readable ? body : [body ?? ''];
	for await (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

/** Declares the length of a text before it becomes a stream. @returns the declared length of the body */
function declareLength(reply: FastifyReply, body: Body): number | undefined {
	if (!(body instanceof Readable)) reply.header('content-length', Buffer.byteLength(body ?? ''));
	const length = reply.getHeader('content-length');
	return length === undefined ? undefined : Number(length);
}

/** A stream of events has no declared length, so it is read to its end first. */
async function measure(reply: FastifyReply, body: Body): Promise<{ whole: Body; length: number }> {
	const declared = declareLength(reply, body);
	if (declared !== undefined) return { whole: body, length: declared };
	const whole = await buffer(bytesOf(body));
	return { whole, length: whole.length };
}
