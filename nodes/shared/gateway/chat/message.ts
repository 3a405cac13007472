import {
	describeBody,
	bodyFields,
	UnusableResponse,
	type ServiceResponse,
	type ResponseFields,
} from '../client/response';
import { isObject, valueAt } from '../json';

export interface TextMessage {
	text: string;
	fields: ResponseFields;
}

/** The form of this answer is not shown: parts of text, a plain text and a chat completion are taken. */
export function textMessage(answer: ServiceResponse): TextMessage {
	const fields = bodyFields(answer);
	const content =
		fields.content ??
		valueAt(fields, 'message.content') ??
		valueAt(fields, 'choices.0.message.content');
	const parts = Array.isArray(content)
		? content
		: [content ?? fields.completion ?? fields.output_text];
	const texts = parts.map((part) => (isObject(part) ? part.text : part));
	if (!Array.isArray(content) && typeof texts[0] !== 'string')
		throw new UnusableResponse(describeBody(answer));
	return { text: texts.filter((text) => typeof text === 'string').join(''), fields };
}
