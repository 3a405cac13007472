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

/** The fields of a request that Extra Body gives: those need not be filled in elsewhere. */
export class ExtraBody {
	private readonly fields: JsonObject;

	/** @param options the place of the option */
	constructor(options: Place) {
		this.fields = extraBodyOption.read(options) ?? {};
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
