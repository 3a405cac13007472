import type { FastifyReply } from 'fastify';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Exchange } from './actions';

// Faults that leave the true answer as it is and spoil the way it travels. Each gives the body to send.

/** What fastify sends: JSON and pages as text, files as streams that declare their length, events as streams. */
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
				// Not after the last drop, with which the answer has gone out.
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

/** Bytes beyond the declared length are not sent: no client reads them as part of this body. */
export async function misdeclare({ reply, body }: Exchange, by: number): Promise<Readable> {
	const { whole, length } = await measure(reply, body);
	reply.header('content-length', length + by);
	hangUpAtEnd(reply);
	return Readable.from(firstBytes(whole, length + by));
}

/** The bytes of the answer before a position in it. */
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

/** Lets the connection end where the body ends, whatever was declared, as a broken line does. */
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

/** Declares, before a text becomes a stream, the length that it had. Gives the length that is declared. */
function declareLength(reply: FastifyReply, body: Body): number | undefined {
	if (!(body instanceof Readable)) reply.header('content-length', Buffer.byteLength(body ?? ''));
	const length = reply.getHeader('content-length');
	return length === undefined ? undefined : Number(length);
}

/** A stream of events has no declared length: it is read to its end, and then its length is known. */
async function measure(reply: FastifyReply, body: Body): Promise<{ whole: Body; length: number }> {
	const declared = declareLength(reply, body);
	if (declared !== undefined) return { whole: body, length: declared };
	const whole = await buffer(bytesOf(body));
	return { whole, length: whole.length };
}
