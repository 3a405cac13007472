import { merged, valueAt, without, type JsonObject } from '../../service/json';
import { accidentInJson } from './accidentalText';
import { bodyOf, type Field, type Report } from './field';
import { objectField } from './fieldKinds';
import type { ItemParameters } from './itemParameters';
import { reportAccident } from './values';

export const extraBodyOption = objectField('extraBody', 'Extra Body (JSON)', {
	rank: 21,
	placeholder: 'e.g. { "negative_prompt": "rain" }',
	description:
		'Further fields to send, such as those of newer models. They replace fields of the same name; nested objects are merged.',
});

/** Fields that some operations must set themselves: without them, a charged response could not be read. */
const reserved = {
	input: 'the texts are those of the vector store',
	stream: 'this operation reads the response in one piece',
};

/** The fields that Extra Body adds to one request. They need not be filled in elsewhere. */
export class ExtraBody {
	readonly fields: JsonObject;

	/** @param refused a field that this operation sets itself; Extra Body must not have it */
	constructor(
		private readonly parameters: ItemParameters,
		refused?: keyof typeof reserved,
	) {
		const { options, purpose } = parameters;
		const given = extraBodyOption.read(options) ?? {};
		this.fields = purpose.otherModel === undefined ? given : without(given, ['model']);
		const report: Report = (...problem) =>
			options.report(extraBodyOption.property.displayName, ...problem);
		// A stream that is null or false is none.
		const isSet = refused === 'stream' ? this.fields.stream : refused && this.has(refused);
		if (refused && isSet) report(`cannot have “${refused}”: ${reserved[refused]}`, 'unsendable');
		reportAccident(accidentInJson(this.fields, purpose.isOrder), report);
	}

	/**
	 * The body of the request: what the user filled in, and Extra Body. Its fields win, so those that they replace are not
	 * read. They come last: a Retry recognizes an order by the text of its request, also after an update.
	 * @param options entries of "Options"
	 * @param more what is read in another way
	 */
	body(
		fields: readonly Field[],
		options: readonly Field[] = [],
		more: JsonObject = {},
	): JsonObject {
		const { parameters } = this;
		const { displayName } = extraBodyOption.property;
		for (const { request = '', property, problemOf } of [...fields, ...options]) {
			const problem = this.has(request) && problemOf?.(valueAt(this.fields, request));
			if (problem) parameters.report(`${displayName}: ${property.displayName}`, problem);
		}
		const isOpen = ({ request = '' }: Field) => !this.has(request);
		const own = bodyOf(parameters, fields.filter(isOpen));
		const ofOptions = bodyOf(parameters.options, options.filter(isOpen));
		return merged({ ...merged(own, more), ...ofOptions }, this.fields);
	}

	/** Whether Extra Body has this field. @param path dotted, such as `input.media` */
	has(path: string): boolean {
		return valueAt(this.fields, path) !== undefined;
	}
}
