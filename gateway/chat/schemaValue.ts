import { isObject, type JsonObject } from '../../nodes/shared/service/json';
import { numberFor, textFor, type Limits } from './schemaScalars';
import { choose } from './sense';

/** The subject of the answer. */
interface Content {
	/** The content of texts without a format. */
	topic: string;
	/** By which an option is chosen. */
	request: string;
}

/**
 * Makes up a value for a JSON schema. It follows the keywords with which clients describe their types, and none of
 * those that restrict a value further, such as `pattern`: the caller validates the value.
 *
 * @returns undefined when each value would contain another one of its kind, and so never end
 */
export function valueFor(schema: JsonObject, content: Content): unknown {
	return new ValueMaker(schema, content).valueOf([schema], ['#']);
}

class ValueMaker {
	constructor(
		private readonly root: JsonObject,
		private readonly content: Content,
	) {}

	/**
	 * A value for all of these schemas together.
	 *
	 * @param open the references that led here. A value that can end at all also ends without following one twice.
	 */
	valueOf(schemas: unknown[], open: string[]): unknown {
		if (schemas.includes(false)) return undefined;
		const parts = schemas.filter(isObject);
		const composed = parts.find((part) => compositions.some((keyword) => keyword in part));
		if (!composed) return this.plainValueOf(parts.reduce(merged, {}), open);

		const { $ref, allOf = [], anyOf = [true], oneOf = [true], ...plain } = composed;
		const references = [$ref ?? []].flat().map(String);
		if (references.some((reference) => open.includes(reference))) return undefined;
		const together = [
			...parts.filter((part) => part !== composed),
			plain,
			...references.map((reference) => this.targetOf(reference)),
			...listOf(allOf),
		];
		for (const any of listOf(anyOf)) {
			for (const one of listOf(oneOf)) {
				const value = this.valueOf([...together, any, one], [...open, ...references]);
				if (value !== undefined) return value;
			}
		}
		return undefined;
	}

	/** The schema at a pointer into the document, such as `#/$defs/Address`. */
	private targetOf(reference: string): unknown {
		const names = decodeURIComponent(reference).split('/').slice(1);
		return names
			.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
			.reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], this.root);
	}

	private plainValueOf(schema: JsonObject, open: string[]): unknown {
		if ('const' in schema) return schema.const;
		if (Array.isArray(schema.enum)) return choose(schema.enum, this.content.request);
		switch (typeOf(schema)) {
			case 'object':
				return this.objectOf(schema, open);
			case 'array':
				return this.arrayOf(schema, open);
			case 'integer':
			case 'number':
				return numberFor(schema);
			case 'boolean':
				return true;
			case 'null':
				return null;
			default:
				return textFor(schema, this.content.topic);
		}
	}

	/** Has all properties that are named, also the optional ones, where they can end. */
	private objectOf(schema: JsonObject, open: string[]): JsonObject | undefined {
		const properties = isObject(schema.properties) ? schema.properties : {};
		const required = listOf(schema.required).map(String);
		const names = [...new Set([...Object.keys(properties), ...required])];
		const entries = names
			.map((name) => {
				const property = Object.hasOwn(properties, name)
					? properties[name]
					: schema.additionalProperties;
				return [name, this.valueOf([property], open)] as const;
			})
			.filter(([, value]) => value !== undefined);
		const object = Object.fromEntries(entries);
		return required.every((name) => Object.hasOwn(object, name)) ? object : undefined;
	}

	/** Has one item, if no other number is required and the item can end. */
	private arrayOf(schema: JsonObject, open: string[]): unknown[] | undefined {
		const { items, prefixItems, additionalItems } = schema;
		// Up to draft 2019-09, `items` may be a list.
		const [first, others] = Array.isArray(items)
			? [items, additionalItems]
			: [listOf(prefixItems), items];
		const { minItems: min = 0, maxItems: max = Infinity } = schema as Limits;
		const length = Math.max(min, Math.min(first.length || 1, max));
		const values = Array.from({ length }, (_, index) =>
			this.valueOf([index < first.length ? first[index] : others], open),
		);
		const made = values.includes(undefined) ? values.slice(0, values.indexOf(undefined)) : values;
		return made.length < min ? undefined : made;
	}
}

/** Keywords that name other schemas for the same value. */
const compositions = ['$ref', 'allOf', 'anyOf', 'oneOf'];

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const merged = (one: JsonObject, other: JsonObject): JsonObject => ({
	...one,
	...other,
	properties: { ...(one.properties as object), ...(other.properties as object) },
	required: [...listOf(one.required), ...listOf(other.required)],
});

/** The first type that is not null; without a type, what the other keywords describe. */
function typeOf({ type, properties, required, ...others }: JsonObject): unknown {
	const types: unknown[] = [type ?? []].flat();
	if (types.length > 0) return types.find((name) => name !== 'null') ?? 'null';
	if ('items' in others || 'prefixItems' in others) return 'array';
	return Object.keys(properties ?? {}).length + listOf(required).length > 0 ? 'object' : 'string';
}
