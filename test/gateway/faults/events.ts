import { Readable } from 'node:stream';
import { ServiceError } from '../errors';
import type { Exchange } from './actions';
import type { Body } from './bodies';

/**
 * Ends a stream of events, each of which is one piece of the body, in good form after so many of them, with an error
 * event when a code is given. Other bodies pass as they are.
 */
export function breakOff(
	{ request, body }: Exchange,
	{ after, code }: { after: number; code?: string },
): Body {
	// A call that failed, though it did so late.
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
