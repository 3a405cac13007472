import { globSync } from 'tinyglobby';
import type { INodeProperties } from 'n8n-workflow';
import { operations } from '../../../nodes/ModelGateway/resources';
import { credentialType, nodesWith } from '../../harness/registry';
import { read, root } from '../../support/files/repository';

// The rules of n8n's UX guidelines for verified nodes that its linter does not check.

/** All fields of a panel, also those in groups. */
const fieldsIn = (fields: unknown[]): INodeProperties[] =>
	(fields as INodeProperties[]).flatMap((field) => [
		field,
		...fieldsIn(
			(field.options ?? []).flatMap((option) => ('values' in option ? option.values : [option])),
		),
	]);

const nodeDescriptions = nodesWith('modelGatewayApi').map(({ description }) => description);
const credentialFields = credentialType('modelGatewayApi').properties;

interface PanelText {
	/** The name of its property, or `notice`. */
	name: string;
	text: string;
}

/** Every text in it that the editor shows. */
function textsIn(value: unknown): PanelText[] {
	if (typeof value !== 'object' || value === null) return [];
	return Object.entries(value).flatMap(([name, inner]) => {
		const isShown = /^(description|displayName|hint|message|name|placeholder)$/.test(name);
		const isNotice = name === 'displayName' && 'type' in value && value.type === 'notice';
		const own = isShown && typeof inner === 'string';
		return own ? [{ name: isNotice ? 'notice' : name, text: inner }] : textsIn(inner);
	});
}

const panelTexts = textsIn([credentialFields, nodeDescriptions]);

it.each(operations)(
	'the action “$action” is in sentence case, without an article, and names its resource',
	({ action, name, description, resource }) => {
		expect(action).toMatch(/^[A-Z][a-z]*( [a-z]+)+$/);
		expect(action).not.toMatch(/\b(an?|the)\b/i);
		// The node creator does not show the resource.
		const [word = ''] = /\w+$/.exec(resource.name.toLowerCase()) ?? [];
		expect(action).toContain(word);
		expect(name).toMatch(/^[A-Z][a-z]*( [A-Z][a-z]*)*$/);
		expect(description).toMatch(/^[A-Z][a-z]+,? [a-z]/);
		expect(description).not.toBe(action);
	},
);

it('no two operations have the same action', () => {
	expect(new Set(operations.map(({ action }) => action)).size).toBe(operations.length);
});

it('each placeholder is an example or the label of a button', () => {
	const placeholders = panelTexts.filter(({ name }) => name === 'placeholder');
	expect(placeholders.length).toBeGreaterThan(10);
	expect(placeholders.filter(({ text }) => !/^(e\.g\. |Add )/.test(text))).toEqual([]);
});

it('each switch says what it decides, beginning with “Whether”', () => {
	const fields = fieldsIn(
		[...nodeDescriptions.map(({ properties }) => properties), credentialFields].flat(),
	);
	const switches = fields.filter(({ type }) => type === 'boolean');
	expect(switches.length).toBeGreaterThan(10);
	const others = switches.filter(({ description }) => !description?.startsWith('Whether '));
	expect(others.map(({ displayName }) => displayName)).toEqual([]);
});

it('no output that n8n offers for mapping has more than 10 fields', () => {
	const files = globSync('nodes/**/__schema__/**/*.json', { cwd: root });
	const schemas = files.map((file) => JSON.parse(read(file)) as object);
	const counts = schemas.map((schema) =>
		'properties' in schema ? Object.keys(schema.properties as object).length : 0,
	);
	expect(Math.min(...counts)).toBeGreaterThan(0);
	expect(Math.max(...counts)).toBeLessThanOrEqual(10);
});

it.each<[number, string[]]>([
	[150, ['notice', 'hint', 'message']],
	[250, ['description']],
])('no text of a panel is longer than %i characters where it is a %j', (most, names) => {
	const texts = panelTexts.filter(({ name }) => names.includes(name));
	expect(texts.length).toBeGreaterThan(0);
	const shown = texts.map(({ text }) => text.replace(/<[^>]*>/g, ''));
	expect(shown.filter((text) => text.length > most)).toEqual([]);
});
