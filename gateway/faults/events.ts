import { Readable } from 'node:stream';
import { ServiceError } from '../errors';
import type { Exchange } from './actions';
import type { Body } from './bodies';

/**
 * Ends a stream after this number of events, in valid form, and with an error event when a code is given. Each event is
 * one piece of the body. Other bodies pass unchanged.
 */
export function breakOff(
	{ request, body }: Exchange,
	{ after, code }: { after: number; code?: string },
): Body {
	// The call has failed, even if it failed late, so it is not charged.
	request.purchase = undefined;
	if (!(body instanceof Readable)) return body;
	async function* kept(given: AsyncIterable<string>) {
		let left = after;
		for await (const event of given) {
			if (left-- === 0) break;
			yield event;
		}
		if (code) yield `data: ${JSON.stringify(new ServiceError(500, code).body)}\n\n`;
	}
	return Readable.from(kept(body));
}
