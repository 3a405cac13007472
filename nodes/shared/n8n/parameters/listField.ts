import type { INodeProperties } from 'n8n-workflow';
import { isObject } from '../../service/json';
import type { Field } from './field';
import { fieldOf, type Declaration } from './fieldKinds';
import { scopeIn, type Scope } from './itemParameters';

/**
 * A list of entries, each with fields of its own. It reads as one scope per entry, in their order.
 * @param entry label of an entry, in the editor and in problems
 */
export function listField<const Path extends string = never>({
	entry,
	fields,
	...declaration
}: Declaration<Path, INodeProperties['default']> & {
	entry: string;
	fields: readonly Field[];
}): Field<Scope[], Path> {
	const { name } = declaration;
	const values = fields.map(({ property }) => property);
	const typeOptions = {
		multipleValues: true,
		// The title of an entry in n8n's new panel for collections, which 2.40 does not show to all users yet.
		fixedCollection: { itemTitle: `=${entry} {{ $collection.item.index + 1 }}` },
		...declaration.typeOptions,
	};
	const options = [{ displayName: entry, name: 'values', values }];
	const shown = { default: {}, ...declaration, typeOptions, options };
	return {
		...fieldOf('fixedCollection', shown, () => []),
		entry: { label: entry, fields },
		read(scope) {
			const path = `${name}.values`;
			const given = scope.value(path);
			const list = Array.isArray(given) ? given.filter(isObject) : [];
			return list.map((values, index) =>
				scopeIn(scope, `${path}.${index}`, values, `${entry} ${index + 1}`),
			);
		},
	};
}
