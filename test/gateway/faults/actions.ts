import type { FastifyReply, FastifyRequest } from 'fastify';
import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../errors';
import type { Body, Encoding, Position } from './bodies';
import { compress, cut, drip, freeze, misdeclare } from './bodies';
import { shuffle } from './embeddings';
import { breakOff } from './events';

/** Names are lower case; undefined takes a header away. */
type Headers = Record<string, string | undefined>;

interface Answer {
	/** 200 by default. */
	status?: number;
	/** JSON is declared unless these say otherwise. */
	headers?: Headers;
	/** Empty by default. */
	body?: string | Uint8Array;
}

/**
 * Faults that keep the true answer from the client. By default the service never hears of the request;
 * with `accepted` it does its work first, so that a job is made and billed.
 */
interface Loss {
	accepted?: boolean;
}

/** What a fault does. */
export type FaultAction =
	/** Answers with the error object. */
	| (Loss & {
			action: 'error';
			status: number;
			code: string;
			message?: string;
			param?: string;
			headers?: Headers;
	  })
	/** Answers with anything: the page of a proxy, half a JSON, nothing, a redirect. */
	| (Loss & Answer & { action: 'answer' })
	/** Resets the connection. */
	| (Loss & { action: 'reset' })
	/** Says nothing for so long, or until something has happened, and then goes on; or says nothing for ever. */
	| (Loss & { action: 'stall'; seconds?: number; until?: Promise<unknown> })
	/** Sends the true answer compressed, asked for or not. */
	| { action: 'encode'; encoding: Encoding }
	/** Sends the true answer slowly. */
	| { action: 'drip'; bytesPerSecond: number }
	/** Hangs up in the middle of the true answer. */
	| { action: 'cut'; after: Position }
	/** Falls silent in the middle of the true answer. */
	| { action: 'freeze'; after: Position }
	/** Declares a length that is so many bytes more than the true one; or less, and the body is short. */
	| { action: 'wrongLength'; by: number }
	/** Changes headers of the true answer. */
	| { action: 'headers'; headers: Headers }
	/** Ends a stream after so many events: with an error event, or as if it were whole. */
	| { action: 'breakOff'; after: number; code?: string }
	/** Answers with the embeddings in another order. */
	| { action: 'shuffle' }
	/** Answers a request for a part with the whole file. */
	| { action: 'ignoreRange' }
	/** Behaves as if the file had been replaced: another ETag, and an If-Range that no longer holds. */
	| { action: 'changeEtag' };

/** A request in the hands of a fault, and the body that is about to be sent. */
export interface Exchange {
	request: FastifyRequest;
	reply: FastifyReply;
	body: Body;
}

type Act = (exchange: Exchange) => Promise<Body> | Body;

/** The two moments at which a fault can act. */
export interface Behaviour {
	/** Before the routes: a body given here is the answer, and the routes never hear of the request. */
	onRequest?: Act;
	/** Before the answer is sent: gives the body to send. */
	onAnswer?: Act;
}

export function behaviourOf(fault: FaultAction): Behaviour {
	switch (fault.action) {
		case 'error': {
			const { status, code, message, param, headers } = fault;
			const { body } = new ServiceError(status, code, message, { param });
			return lose(fault, answer({ status, headers, body: JSON.stringify(body) }));
		}
		case 'answer':
			return lose(fault, answer(fault));
		case 'reset':
			return lose(fault, async ({ request }) => {
				request.raw.socket.resetAndDestroy();
				return await never();
			});
		case 'stall':
			return lose(fault, async ({ body }) => {
				if (fault.until) return await fault.until.then(() => body);
				if (fault.seconds === undefined) return await never();
				return await setTimeout(fault.seconds * 1000, body, { ref: false });
			});
		case 'encode':
			return { onAnswer: async (exchange) => await compress(exchange, fault.encoding) };
		case 'drip':
			return { onAnswer: (exchange) => drip(exchange, fault.bytesPerSecond) };
		case 'cut':
			return { onAnswer: (exchange) => cut(exchange, fault.after) };
		case 'freeze':
			return { onAnswer: (exchange) => freeze(exchange, fault.after) };
		case 'wrongLength':
			return { onAnswer: (exchange) => misdeclare(exchange, fault.by) };
		case 'headers':
			return { onAnswer: withHeaders(fault.headers) };
		case 'breakOff':
			return { onAnswer: (exchange) => breakOff(exchange, fault) };
		case 'shuffle':
			return { onAnswer: shuffle };
		case 'ignoreRange':
			return { onRequest: dropRange };
		case 'changeEtag':
			return {
				onRequest: (exchange) =>
					exchange.request.headers['if-range'] === undefined ? undefined : dropRange(exchange),
				onAnswer: withHeaders({ etag: '"replaced"' }),
			};
	}
}

function lose({ accepted = false }: Loss, act: Act): Behaviour {
	return accepted ? { onAnswer: act } : { onRequest: act };
}

const never = async (): Promise<never> => await new Promise(() => {});

function answer({ status = 200, headers = {}, body = '' }: Answer): Act {
	const json = 'application/json; charset=utf-8';
	return ({ reply }) => {
		reply.code(status).removeHeader('content-length');
		changeHeaders(reply, { 'content-type': json, ...headers });
		return typeof body === 'string' ? body : Buffer.from(body);
	};
}

function changeHeaders(reply: FastifyReply, headers: Headers): void {
	for (const [name, value] of Object.entries(headers)) {
		if (value === undefined) reply.removeHeader(name);
		else reply.header(name, value);
	}
}

const withHeaders =
	(headers: Headers): Act =>
	({ reply, body }) => {
		changeHeaders(reply, headers);
		return body;
	};

function dropRange({ request }: Exchange): undefined {
	delete request.headers.range;
}
