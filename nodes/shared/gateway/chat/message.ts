import {
	bodyFields,
	describeBody,
	UnusableResponse,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { isObject, valueAt, type JsonObject } from '../json';
import { brokeOffWithError, endsWithError, errorIn, errorInChoice } from './answerError';
import { otherContentOf, refusalOf, textOf } from './completion';

export interface TextMessage {
	/** Empty when the model only called tools, or was stopped before its first word. */
	text: string;
	/** What the model gave besides the text, such as tool calls or a refusal, under the service's own names. */
	otherContent: JsonObject;
	/** Why the answer ended, if the response has the form of a chat completion. */
	finish_reason?: unknown;
	fields: ResponseFields;
}

/**
 * The response of "Endpoints" 5. The specification does not show it, so content parts, a plain text, a chat completion,
 * and any of them in an envelope are all accepted. A response without a text must call a tool or say why it ended.
 */
export function textMessage(response: ServiceResponse): TextMessage {
	const fields = bodyFields(response);
	const choice = valueAt(fields, 'choices.0');
	const { message, data, output, result } = fields;
	const messages = [
		...[fields, message, valueAt(choice, 'message')],
		...[data, valueAt(data, 'message'), output, result],
	].filter(isObject);
	const contents = [
		...messages.map(({ content }) => content),
		...[...messages, choice]
			.filter(isObject)
			.flatMap(({ completion, output_text, text }) => [completion, output_text, text]),
		contentsOf(output),
		...[output, result],
	];
	const content = contents.find(isContent);
	const { tool_calls, function_call } = messages.find(callsTool) ?? {};
	const finish_reason = valueAt(choice, 'finish_reason') ?? fields.finish_reason;
	const isEnded = typeof (finish_reason ?? fields.stop_reason) === 'string';
	const isWithoutText = messages.some((message) => message.content === null && isEnded);
	const refusal = [...messages, { content }].map(refusalOf).find(Boolean);
	if (content === undefined && !isWithoutText && !refusal && !messages.some(callsTool))
		throw new UnusableResponse(describeBody(response));
	const text = textOf({ content });
	const error = errorIn(fields) ?? errorInChoice(choice);
	if (error !== undefined || endsWithError(choice)) throw brokeOffWithError(error, text);
	return {
		text,
		otherContent: otherContentOf({ content, tool_calls, function_call, refusal }),
		finish_reason,
		fields,
	};
}

/** The parts of a list of messages. */
function contentsOf(output: unknown): unknown[] | undefined {
	const contents = Array.isArray(output) ? output.map((entry) => valueAt(entry, 'content')) : [];
	const parts = contents.filter((content) => content !== undefined).flat();
	return parts.length > 0 ? parts : undefined;
}

const isContent = (content: unknown) =>
	Array.isArray(content) || typeof (isObject(content) ? content.text : content) === 'string';

const callsTool = ({ tool_calls, function_call }: JsonObject) =>
	Array.isArray(tool_calls) || isObject(function_call);
