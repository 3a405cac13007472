import { merged, valueAt, type JsonObject } from '../../gateway/json';
import { bodyOf, type Body, type Field } from './field';
import { objectField } from './fieldKinds';
import type { ItemParameters, Scope } from './itemParameters';

/** What the user adds to the request, such as a field that this package does not know yet. */
export const extraBodyOption = objectField({
	displayName: 'Extra Body (JSON)',
	name: 'extraBody',
	placeholder: 'e.g. { "negative_prompt": "rain" }',
	description:
		'Further fields to send, such as those of newer models. They replace fields of the same name; nested objects are merged.',
});

/** Fields that some operations cannot leave to the user: the response would be paid for, and could not be read. */
const reserved = {
	input: 'the texts are those of the vector store',
	stream: 'this operation reads the response in one piece',
};

/** What Extra Body adds to one request. A field that it gives need not be filled in elsewhere. */
export class ExtraBody {
	readonly fields: JsonObject;

	/** @param refused fields that this operation sets itself; reported where Extra Body gives them */
	constructor(
		private readonly parameters: ItemParameters,
		refused: ReadonlyArray<keyof typeof reserved> = [],
	) {
		const { options } = parameters;
		this.fields = extraBodyOption.read(options) ?? {};
		for (const name of refused) {
			const value = this.fields[name];
			if (value === undefined || (name === 'stream' && !value)) continue;
			const problem = `cannot have “${name}”: ${reserved[name]}`;
			options.report(extraBodyOption.property.displayName, problem, 'unsendable');
		}
	}

	/**
	 * The body of the request: what the user filled in, merged with Extra Body.
	 * @param fields among the parameters of the node itself
	 * @param options in its "Options"
	 */
	body(fields: readonly Field[], options: readonly Field[] = []): JsonObject {
		const { parameters } = this;
		return this.addTo({
			...this.others(parameters, fields),
			...this.others(parameters.options, options),
		});
	}

	/** Whether Extra Body has this field. @param path dotted, such as `input.media` */
	gives(path: string): boolean {
		return valueAt(this.fields, path) !== undefined;
	}

	/** Reads those of the fields that Extra Body does not give. */
	others<Fields extends readonly Field[]>(scope: Scope, fields: Fields): Body<Fields> {
		const others = fields.filter(({ request }) => request === undefined || !this.gives(request));
		return bodyOf(scope, others) as Body<Fields>;
	}

	/** The body merged with Extra Body, whose fields win. */
	addTo<Body extends object>(body: Body): Body & JsonObject {
		return merged(body as JsonObject, this.fields) as Body & JsonObject;
	}
}
