import {
	bodyFields,
	describeBody,
	UnusableResponse,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { isObject, valueAt } from '../json';

export interface TextMessage {
	text: string;
	fields: ResponseFields;
}

/**
 * The text of a message ("Endpoints" 5). The specification does not show this response, so text parts, a plain
 * text and a chat completion are all accepted.
 */
export function textMessage(response: ServiceResponse): TextMessage {
	const fields = bodyFields(response);
	const content =
		fields.content ??
		valueAt(fields, 'message.content') ??
		valueAt(fields, 'choices.0.message.content');
	const parts = Array.isArray(content)
		? content
		: [content ?? fields.completion ?? fields.output_text];
	const texts = parts.map((part) => (isObject(part) ? part.text : part));
	if (!Array.isArray(content) && typeof texts[0] !== 'string')
		throw new UnusableResponse(describeBody(response));
	return { text: texts.filter((text) => typeof text === 'string').join(''), fields };
}
