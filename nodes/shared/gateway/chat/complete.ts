import type { Gateway } from '../client/gateway';
import { GatewayError } from '../errors/gatewayError';
import { isObject, asIndex, type JsonObject } from '../json';
import { endpoints, reasoningRefuses } from '../protocol/endpoints';
import { completion, type Completion } from './completion';
import { StreamedCompletion } from './streamedCompletion';

export interface ChatCall<T> {
	/** The request; with `stream`, the answer is received as it is written. */
	body: JsonObject;
	/** Milliseconds for one try. Default: the endpoint's. */
	timeout?: number;
	/** How many times it is sent again at most. Default: as `retryPolicy.ts` says. */
	retries?: number;
	/** Told the text of the first choice, piece by piece, when it is streamed. */
	onText?: (text: string) => Promise<void> | void;
	/** Takes what is needed of the completion; throws Unusable when it is not there. */
	parse: (completion: Completion) => T;
}

/**
 * Asks a chat model ("Endpoints" 4). A stream that has begun is never asked for again, so no text is
 * told twice.
 * @throws GatewayError
 */
export async function completeChat<T>(gateway: Gateway, call: ChatCall<T>): Promise<T> {
	const { body, timeout, retries, onText, parse } = call;
	const { redaction } = gateway;
	const isStream = body.stream === true;
	const newStream = () => new StreamedCompletion(asIndex(body.n), (text) => redaction.text(text));
	let stream = newStream();
	const live = redaction.stream();
	const tell = async (text: string) => {
		if (text !== '') await onText?.(text);
	};
	return await gateway
		.call({
			endpoint: endpoints.chat,
			purpose: 'complete the chat',
			...{ body, timeout, retries },
			async onText(text) {
				if (isStream) await tell(live.push(stream.push(text)));
				return stream.isDone;
			},
			parse(answer) {
				const finished = stream;
				stream = newStream();
				// A server that does not stream answers in one piece.
				const isWhole = !isStream || isObject(answer.json);
				return parse(isWhole ? completion(answer) : redaction.json(finished.finish(answer)));
			},
		})
		.catch((error: unknown) => {
			throw withReasoningAdvice(error, body);
		})
		.finally(async () => await tell(live.end()));
}

/** Which of the user's settings a reasoning model refuses is not in its answer. */
function withReasoningAdvice(error: unknown, body: JsonObject): unknown {
	if (!(error instanceof GatewayError) || error.failure.status !== 400) return error;
	const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
	const refused = [
		...reasoningRefuses.fields.filter((name) => Object.hasOwn(body, name)),
		...reasoningRefuses.roles
			.filter((role) => messages.some((message) => message.role === role))
			.map((role) => `the ${role} message`),
	];
	if (refused.length === 0) return error;
	return error.with({
		remedies: [
			...error.failure.remedies,
			{ about: 'reasoningModel', model: String(body.model), settings: refused },
		],
	});
}
