import type { FastifyRequest } from 'fastify';
import { ServiceError } from './errors';

/** The first order with a key. */
interface Entry {
	body: string;
	answer: object;
	jobId?: string;
	/** Aborts when its response has been sent, or its client is gone. */
	over: AbortSignal;
}

/** Recognises orders that are sent again, by a key in a header. The specification has no header for this. */
export class IdempotencyKeys {
	private readonly entries = new Map<string, Entry>();

	/** @param header name of the header; without one, no order is recognised */
	constructor(private readonly header: string | undefined) {}

	/**
	 * Accepts an order that is sent for the first time, and returns the recorded response to any repetition. An order is
	 * under way until its response has been sent or its client is gone. A refused order does not use up its key.
	 */
	answerOnce(request: FastifyRequest, take: () => object): object {
		const { headers, account, record, over } = request;
		const key = this.header && headers[this.header.toLowerCase()];
		if (!key) return take();
		const id = JSON.stringify([account.key, key]);
		const body = JSON.stringify(request.body);
		const known = this.entries.get(id);
		if (known === undefined) {
			const answer = take();
			this.entries.set(id, { body, answer, jobId: record.jobId, over });
			return answer;
		}
		if (known.body !== body) {
			const message = 'this idempotency key belongs to another request';
			throw new ServiceError(400, 'idempotency_key_reused', message);
		}
		if (!known.over.aborted) {
			const message = 'a request with this idempotency key is under way';
			throw new ServiceError(409, 'idempotency_key_in_use', message);
		}
		record.jobId = known.jobId;
		return known.answer;
	}
}
