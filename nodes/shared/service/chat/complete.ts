import type { Gateway } from '../client/gateway';
import { asGatewayError, GatewayError } from '../errors/gatewayError';
import { mayTryOtherModel } from '../errors/refusal';
import { asIndex, isObject, type JsonObject } from '../json';
import { endpoints, reasoningRefuses } from '../protocol/endpoints';
import { completion, type Completion } from './completion';
import { AnswerStream, unstreamed } from './answerStream';

interface ChatCall<T> {
	/** The request; with `stream`, the response arrives while it is being generated. */
	body: JsonObject;
	/** Milliseconds for one try. Default: the endpoint's. */
	timeout?: number;
	/** Maximum number of retries. Default: as `verdict.ts` says. */
	retries?: number;
	/** Called with each streamed piece of the first choice's text. */
	onText?: (text: string) => Promise<void> | void;
	/** Extracts what is needed from the completion; throws UnusableResponse when it is not there. */
	parse: (completion: Completion) => T;
}

/**
 * Requests a chat completion ("Endpoints" 4). A stream that has begun is not repeated: its text would come twice.
 * @throws GatewayError
 */
export async function completeChat<T>(gateway: Gateway, call: ChatCall<T>): Promise<T> {
	const { body, timeout, retries, onText, parse } = call;
	const { redaction, runtime } = gateway;
	const isStream = body.stream === true;
	const count = asIndex(body.n);
	let stream: AnswerStream | undefined;
	const redactedStream = redaction.stream();
	const emitText = async (text: string) => {
		if (text !== '') await onText?.(text);
	};
	return await gateway
		.call({
			endpoint: endpoints.chat,
			purpose: 'complete the chat',
			body,
			timeout,
			retries,
			async onText(text) {
				if (!isStream) return false;
				stream ??= new AnswerStream(redaction, count);
				await emitText(redactedStream.push(await stream.read(text, runtime.clock)));
				return stream.isOver;
			},
			async parse(response) {
				const received = { count, stream };
				stream = undefined;
				return parse(completion(await unstreamed(response, gateway, received)));
			},
		})
		.catch((error: unknown) => {
			throw withReasoningAdvice(error, body);
		})
		.finally(async () => await emitText(redactedStream.end()));
}

/** As {@link completeChat}, with the next of these models when one is refused, which none is once its text streams. */
export async function completeChatWith<T>(
	gateway: Gateway,
	call: ChatCall<T>,
	[model, ...others]: readonly string[] = [],
): Promise<T> {
	return await completeChat(gateway, call).catch(async (error: unknown) => {
		const refusal = asGatewayError(error);
		if (model === undefined || !mayTryOtherModel(refusal.failure)) throw refusal;
		return await completeChatWith(gateway, { ...call, body: { ...call.body, model } }, others);
	});
}

/** Names the settings that a reasoning model may have refused: its response does not. */
function withReasoningAdvice(error: unknown, body: JsonObject): unknown {
	if (!(error instanceof GatewayError) || error.failure.kind !== 'badRequest') return error;
	const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : [];
	const refusedSettings = [
		...reasoningRefuses.fields.filter((name) => Object.hasOwn(body, name)),
		...reasoningRefuses.roles
			.filter((role) => messages.some((message) => message.role === role))
			.map((role) => `the ${role} message`),
	];
	if (refusedSettings.length === 0) return error;
	return error.with({
		advice: `If ${String(body.model)} is a reasoning model, remove: ${refusedSettings.join(', ')}.`,
	});
}
