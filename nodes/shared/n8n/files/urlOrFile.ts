import type { IBinaryData } from 'n8n-workflow';
import { publicLinkProblem } from '../../service/links';
import { placeholderIn } from '../parameters/accidentalText';
import { hiddenForTools } from '../parameters/editor';
import type { Field, FieldGroup } from '../parameters/field';
import type { Scope } from '../parameters/itemParameters';

export type Source = { url: string } | { file: IBinaryData };

interface Picker {
	/** The menu. Its choices are {@link sourceChoices}, and `none` where that is the default. */
	source: Field<string | undefined>;
	url: Field<string | undefined>;
	/** The name of the input field with the file. */
	file: Field<string | undefined>;
	/** Finds the file, or reports a problem under the given label. */
	find(name: string, label: string, scope: Scope): IBinaryData | undefined;
	/** Links that are allowed besides public https links; undefined where links are checked later, with the request. */
	links?: Parameters<typeof publicLinkProblem>[2];
	/** Labels for problems. Default: those of the inputs. */
	labels?: { url: string; file: string };
}

/** @param texts descriptions of the choices */
export const sourceChoices = (texts: { binary?: string; url?: string } = {}) => [
	{
		name: 'File of an Earlier Node',
		value: 'binary',
		// An agent passes no files to its tools.
		displayOptions: hiddenForTools,
		...(texts.binary !== undefined && { description: texts.binary }),
	},
	{ name: 'URL', value: 'url', ...(texts.url !== undefined && { description: texts.url }) },
];

/** The picker "URL or file": a menu, and an input for each choice, of which only the chosen one is shown. */
export function urlOrFile({
	source,
	url,
	file,
	find,
	links,
	labels = { url: url.property.displayName, file: file.property.displayName },
}: Picker): FieldGroup<Source | undefined> {
	const { name: menu, default: standard } = source.property;
	const shownFor = (field: Field, choice: string): Field => ({
		...field,
		property: { ...field.property, displayOptions: { show: { [menu]: [choice] } } },
	});
	return {
		fields: [source, shownFor(url, 'url'), shownFor(file, 'binary')],
		read(scope) {
			const choice = source.read(scope);
			if (choice === 'none' && standard === 'none') return undefined;
			// An expression may give a value that is no choice: the default then counts, but a file in place of None.
			if (choice === 'url' || (choice !== 'binary' && standard === 'url')) {
				const link = (url.read(scope) ?? '').trim();
				const problem =
					links &&
					(placeholderIn(link, true)?.problem ??
						publicLinkProblem(link, scope.parameters.purpose.gatewayUrl ?? '', links));
				if (problem !== undefined) scope.report(labels.url, problem);
				return { url: link };
			}
			const { name, default: usual } = file.property;
			// An expression that gives no name, or a choice that hides the field, must not send another file.
			const given = file.read(scope) ?? (scope.written(name) === '' ? String(usual) : '');
			const found = find(given, labels.file, scope);
			return found && { file: found };
		},
	};
}
