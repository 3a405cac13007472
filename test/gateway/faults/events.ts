import { Readable } from 'node:stream';
import { streamEnd } from '../../../nodes/shared/gateway/protocol/chat';
import { ServiceError } from '../errors';
import type { Exchange } from './actions';
import type { Body } from './bodies';

// Faults of a stream of events, each of which is one piece of the body. Other bodies pass as they are.

const rewordings = {
	/** Carriage returns before the line ends. */
	crlf: (event: string) => event.replaceAll('\n', '\r\n'),
	/** A comment before each event, as proxies send to keep a line open. */
	comments: (event: string) => `: keep-alive\n\n${event}`,
	withoutSpace: (event: string) => event.replace('data: ', 'data:'),
	withoutDone: (event: string) => (event === `data: ${streamEnd}\n\n` ? '' : event),
} as const;

/** Forms that the standard of server-sent events allows, or that servers are known for. */
export type Rewording = keyof typeof rewordings;

export function reword({ body }: Exchange, how: Rewording): Body {
	return withEvents(body, async function* (given) {
		for await (const event of given) yield rewordings[how](event);
	});
}

/** Ends the stream in good form after so many events, with an error event when a code is given. */
export function breakOff(
	{ request, body }: Exchange,
	{ after, code }: { after: number; code?: string },
): Body {
	// A call that failed, though it did so late.
	request.purchase = undefined;
	return withEvents(body, async function* (given) {
		let left = after;
		for await (const event of given) {
			if (left-- === 0) break;
			yield event;
		}
		if (code) yield `data: ${JSON.stringify(new ServiceError(500, code).body)}\n\n`;
	});
}

function withEvents(
	body: Body,
	change: (given: AsyncIterable<string>) => AsyncIterable<string>,
): Body {
	return body instanceof Readable ? Readable.from(change(body)) : body;
}
