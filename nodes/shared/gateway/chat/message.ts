import {
	bodyFields,
	describeBody,
	UnusableResponse,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { isObject, valueAt, withoutUndefined, type JsonObject } from '../json';

export interface TextMessage {
	/** Empty when the model only called tools, or was stopped before its first word. */
	text: string;
	/** What the model gave besides the text, such as tool calls, under the service's own names. */
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
		partsOf(output),
		...[output, result],
	];
	const content = contents.find(isContent);
	const { tool_calls, function_call } = messages.find(callsTool) ?? {};
	const finish_reason = valueAt(choice, 'finish_reason') ?? fields.finish_reason;
	const isEnded = typeof (finish_reason ?? fields.stop_reason) === 'string';
	const isWithoutText = messages.some((message) => message.content === null && isEnded);
	if (content === undefined && !isWithoutText && !messages.some(callsTool))
		throw new UnusableResponse(describeBody(response));
	const parts = Array.isArray(content) ? content : [content];
	const texts = parts.map((part) => (isObject(part) ? part.text : part));
	const isText = (text: unknown) => typeof text === 'string';
	return {
		text: texts.filter(isText).join(''),
		otherContent: withoutUndefined({
			// A part such as a tool call has no text.
			content: Array.isArray(content) && !texts.every(isText) ? content : undefined,
			...{ tool_calls, function_call },
		}),
		finish_reason,
		fields,
	};
}

/** The parts of a list of messages. */
function partsOf(output: unknown): unknown[] | undefined {
	const contents = Array.isArray(output) ? output.map((entry) => valueAt(entry, 'content')) : [];
	const parts = contents.filter((content) => content !== undefined).flat();
	return parts.length > 0 ? parts : undefined;
}

const isContent = (content: unknown) =>
	Array.isArray(content) || typeof (isObject(content) ? content.text : content) === 'string';

const callsTool = ({ tool_calls, function_call }: JsonObject) =>
	Array.isArray(tool_calls) || isObject(function_call);
