import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { INodeProperties } from 'n8n-workflow';
import { ModelGatewayApi } from '../../../credentials/ModelGatewayApi.credentials';
import { EmbeddingsModelGateway } from '../../../nodes/EmbeddingsModelGateway/EmbeddingsModelGateway.node.js';
import embeddings from '../../../nodes/EmbeddingsModelGateway/EmbeddingsModelGateway.node.json';
import { LmChatModelGateway } from '../../../nodes/LmChatModelGateway/LmChatModelGateway.node.js';
import chatModel from '../../../nodes/LmChatModelGateway/LmChatModelGateway.node.json';
import { ModelGateway } from '../../../nodes/ModelGateway/ModelGateway.node.js';
import modelGateway from '../../../nodes/ModelGateway/ModelGateway.node.json';
import { operations } from '../../../nodes/ModelGateway/resources';
import { ModelGatewayWaitForVideo } from '../../../nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.js';
import waitForVideo from '../../../nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.json';

// What n8n asks of verified nodes in its UX guidelines, and its linter does not check; and that people find the nodes.

const nodes = path.join(__dirname, '../../../nodes');

/** All fields of a panel, also those in groups. */
const fieldsIn = (fields: unknown[]): INodeProperties[] =>
	(fields as INodeProperties[]).flatMap((field) => [
		field,
		...fieldsIn(
			(field.options ?? []).flatMap((option) => ('values' in option ? option.values : [option])),
		),
	]);

const nodeDescriptions = [
	...[new ModelGateway(), new ModelGatewayWaitForVideo()],
	...[new LmChatModelGateway(), new EmbeddingsModelGateway()],
].map(({ description }) => description);
const codexes = [modelGateway, waitForVideo, chatModel, embeddings];
const panels = nodeDescriptions.map(({ properties }) => properties);
const credentialFields = new ModelGatewayApi().properties;

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
	const fields = fieldsIn([...panels, credentialFields].flat());
	const switches = fields.filter(({ type }) => type === 'boolean');
	expect(switches.length).toBeGreaterThan(10);
	const others = switches.filter(({ description }) => !description?.startsWith('Whether '));
	expect(others.map(({ displayName }) => displayName)).toEqual([]);
});

it('no output that n8n offers for mapping has more than 10 fields', () => {
	const schemas = readdirSync(nodes, { recursive: true, encoding: 'utf8' })
		.filter((file) => file.includes('__schema__') && file.endsWith('.json'))
		.map((file) => JSON.parse(readFileSync(path.join(nodes, file), 'utf8')) as object);
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

interface ListedNode {
	displayName: string;
	codex?: { alias?: string[] };
}
const nodesOfN8n = JSON.parse(
	readFileSync(require.resolve('n8n-nodes-base/dist/types/nodes.json'), 'utf8'),
) as ListedNode[];
const ownNodes = nodeDescriptions.map((description, index) => ({
	...description,
	codex: codexes[index],
}));
/** In the form of the editor's list. */
const entries = [...nodesOfN8n, ...ownNodes].map(({ displayName, codex: { alias = [] } = {} }) => ({
	properties: { displayName, codex: { alias } },
}));

/** What people search for, by the node that they must find. */
const searches: Record<string, string[]> = {
	'Model Gateway': [
		...['video', 'text-to-video', 'image to video', 'Image to Video', 'create a video', 'reel'],
		...['generate video', 'video generator', 'product video', 'make a video', 'AI video', 'r2v'],
		...['video from pictures', 'animate photo', 'describe image', 'photo', 'pictures', 'LLM'],
		...['edit image', 'text to image', 'embeddings', 'model gateway', 'download video'],
		...['make a video from a photo', 'photo to video', 'reels', 'upscale'],
	],
	'Wait for Video': [
		...['wait for video', 'AI video', 'download video', 'save video', 'video status', 'gateway'],
	],
	'Model Gateway Chat Model': ['LLM', 'language model', 'gateway'],
	'Embeddings Model Gateway': [
		...['embeddings', 'embedding', 'vector', 'RAG', 'semantic search', 'gateway'],
	],
};

it.each(Object.entries(searches).flatMap(([node, all]) => all.map((words) => [node, words])))(
	'the search of the node creator finds the node %s for “%s”',
	async (node, words) => {
		const { sublimeSearch } = await import('@n8n/utils/dist/search/sublime-search');
		const first = sublimeSearch(words, entries).slice(0, 5);
		expect(first.map(({ item }) => item.properties.displayName)).toContain(node);
	},
);
