import { merged, valueAt, type JsonObject } from '../../gateway/json';
import { bodyOf, type Body, type Field } from './field';
import { objectField } from './fieldKinds';
import type { Place } from './itemParameters';

/** What the user adds to the request, such as a field that this package does not know yet. */
export const extraBodyOption = objectField({
	displayName: 'Extra Body (JSON)',
	name: 'extraBody',
	placeholder: 'e.g. { "negative_prompt": "rain" }',
	description:
		'More fields of the request, for what newer models take. They win over the other fields; objects within objects are merged.',
});

/** Fields that some operations cannot leave to the user: the answer would be paid for, and could not be read. */
const reserved = {
	input: 'the texts belong into the field Input',
	stream: 'this operation reads the answer in one piece',
};

/** The fields of a request that Extra Body gives: those need not be filled in elsewhere. */
export class ExtraBody {
	readonly fields: JsonObject;

	/**
	 * @param options the place of the option
	 * @param refused fields that this operation sets itself
	 */
	constructor(options: Place, refused: ReadonlyArray<keyof typeof reserved> = []) {
		this.fields = extraBodyOption.read(options) ?? {};
		for (const name of refused) {
			if (!this.fields[name]) continue;
			const problem = `cannot have “${name}”: ${reserved[name]}`;
			options.report(extraBodyOption.property.displayName, problem, 'unsendable');
		}
	}

	/** @param path dotted, such as `input.media` */
	gives(path: string): boolean {
		return valueAt(this.fields, path) !== undefined;
	}

	/** Reads those of the fields that it does not give itself. */
	rest<Fields extends readonly Field[]>(place: Place, fields: Fields): Body<Fields> {
		const rest = fields.filter(({ request }) => request === undefined || !this.gives(request));
		return bodyOf(place, rest) as Body<Fields>;
	}

	addTo<Body extends object>(body: Body): Body & JsonObject {
		return merged(body as JsonObject, this.fields) as Body & JsonObject;
	}
}
