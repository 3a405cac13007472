import type { FastifyReply, FastifyRequest } from 'fastify';
import { setTimeout } from 'node:timers/promises';
import { ServiceError } from '../errors';
import type { Body, Encoding, Position } from './bodies';
import { compress, cut, drip, freeze, misdeclare } from './bodies';
import { shuffle } from './embeddings';
import { breakOff } from './events';

/** Names are lower case. Undefined removes a header. */
type Headers = Record<string, string | undefined>;

interface Answer {
	/** 200 by default. */
	status?: number;
	/** The content type is JSON unless these headers change it. */
	headers?: Headers;
	/** Empty by default. */
	body?: string | Uint8Array;
}

/**
 * Faults in which the client does not get the real response. By default, the service never gets the request; with
 * `accepted`, it does its work first, so that a job is created and charged.
 */
interface Loss {
	accepted?: boolean;
}

/** The effect of a fault. */
export type FaultAction =
	/** Responds with an error object. */
	| (Loss & {
			action: 'error';
			status: number;
			code: string;
			message?: string;
			param?: string;
			headers?: Headers;
	  })
	/** Responds with anything: the page of a proxy, half a JSON, nothing, a redirect. */
	| (Loss & Answer & { action: 'answer' })
	/** Resets the connection. */
	| (Loss & { action: 'reset' })
	/** Delays the response by some seconds, or until a promise settles; without either, there is no response. */
	| (Loss & { action: 'stall'; seconds?: number; until?: Promise<unknown> })
	/** Compresses the real response, even if the client did not ask for that. */
	| { action: 'encode'; encoding: Encoding }
	/** Sends the real response slowly. */
	| { action: 'drip'; bytesPerSecond: number }
	/** Closes the connection in the middle of the real response. */
	| { action: 'cut'; after: Position }
	/** Stops sending in the middle of the real response, and keeps the connection open. */
	| { action: 'freeze'; after: Position }
	/** Declares a length that is longer by this number of bytes; or shorter, and then the body is cut. */
	| { action: 'wrongLength'; by: number }
	/** Changes headers of the real response. */
	| { action: 'headers'; headers: Headers }
	/** Ends a stream after this number of events: with an error event, or as if it were complete. */
	| { action: 'breakOff'; after: number; code?: string }
	/** Returns the embeddings in another order. */
	| { action: 'shuffle' }
	/** Returns the whole file to a request for a part. */
	| { action: 'ignoreRange' }
	/** Behaves as if the file had been replaced: with another ETag, and an If-Range that no longer matches. */
	| { action: 'changeEtag' };

/** A request that meets a fault, and the body that is about to be sent. */
export interface Exchange {
	request: FastifyRequest;
	reply: FastifyReply;
	body: Body;
}

type Act = (exchange: Exchange) => Promise<Body> | Body;

/** The two moments at which a fault can act. */
export interface Behaviour {
	/** Before the routes: a body returned here is the response, and the routes never get the request. */
	onRequest?: Act;
	/** Before the response is sent: returns the body to send. */
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
