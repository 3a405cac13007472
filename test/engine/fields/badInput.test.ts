import type { IDataObject } from 'n8n-workflow';
import { withGateway } from '../../support/http/withGateway';
import { png } from '../../support/workflows/everyNode';
import {
	byId,
	chain,
	createReferenceVideo,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

interface LinkField {
	/** The name of the field in the error. */
	label: string;
	node(link: string): Node;
	fields?(link: string): IDataObject;
}

const call = (resource: string, operation: string, parameters: IDataObject) =>
	modelGateway({ resource, operation, ...parameters }, { name: 'Call' });

const nothing = '={{ $json.nothing }}';
const file = { data: png, mimeType: 'image/png' };
const goodLink = 'https://media.example/a.png';
const images = (link: string) => ({ values: [{ source: 'url', url: link }] });
const withMedia = (medium: IDataObject) => ({ media: [{ type: 'reference_image', ...medium }] });
const createVideo = () => createReferenceVideo({}, { name: 'Call' });

const linkFields: LinkField[] = [
	{ label: 'Media 1: URL', node: createVideo, fields: (url) => withMedia({ url }) },
	{
		label: 'Media 1: Voice URL',
		node: createVideo,
		fields: (link) => withMedia({ url: goodLink, reference_voice: link }),
	},
	...['image', 'mask'].map((name): LinkField => ({
		label: name === 'image' ? 'Image URL' : 'Mask URL',
		node: (link) =>
			call('image', 'edit', {
				model: byId('image-edit-1'),
				prompt: 'A boat',
				imageSource: 'url',
				imageUrl: goodLink,
				[`${name}Source`]: 'url',
				[`${name}Url`]: link,
			}),
	})),
	{
		label: 'Message 1: Image 1',
		node(link) {
			const values = [{ role: 'user', content: 'Hi', images: images(link) }];
			return call('chat', 'complete', { model: byId('chat-1'), messages: { values } });
		},
	},
	{
		label: 'Image 1',
		node: (link) =>
			call('image', 'chat', {
				model: byId('image-chat-1'),
				prompt: 'A boat',
				images: images(link),
			}),
	},
];

describe('bad input', () => {
	const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });

	const messageOf = async (node: Node, json: IDataObject = {}) => {
		const result = await runWorkflow(chain(node), { input: [{ json }] });
		expect(gateway.requests).toEqual([]);
		return result.errorOf(node.name)?.message;
	};

	it.each(linkFields)(
		'refuses a link that the service cannot fetch: $label',
		async ({ label, node, fields }) => {
			const link = 'http://firm.example/a.png';
			expect(await messageOf(node(link), fields?.(link))).toBe(
				`${label} must be a public https link, and this one starts with http://`,
			);
		},
	);

	it('says to fill in or delete a media entry without a URL', async () => {
		const problem = 'Media 1: URL is empty: give a link, or delete this entry';
		const untouched = createReferenceVideo({ mediaInput: 'fields', mediaJson: undefined });
		expect(await messageOf(untouched)).toBe(problem);
		const blank = { values: [{ type: 'reference_image', source: 'url', url: ' ' }] };
		const alpha = { model: byId('alpha-1.1-r2v'), mediaInput: 'fields', media: blank };
		expect(await messageOf(createReferenceVideo(alpha))).toBe(problem);
	});

	it.each<[string, IDataObject]>([
		['Image Binary Field', { operation: 'edit', imageBinaryField: '={{ $binary.photo }}' }],
		['Image Binary Field', { operation: 'edit', imageBinaryField: '={{ $json.nothing }}' }],
		['Image Binary Field', { operation: 'edit', imageSource: 'file', imageBinaryField: 'photo' }],
		['Image 1', { operation: 'chat', binaryField: '={{ $binary.photo }}' }],
	])(
		'sends no other file where an expression gives no name: %s of %j',
		async (label, { binaryField, ...parameters }) => {
			const images = { values: [{ source: 'binary', binaryField }] };
			const image = { resource: 'image', model: byId('image-1'), prompt: 'A boat', images };
			const node = modelGateway({ ...image, ...parameters });
			const result = await runWorkflow(chain(node), {
				input: [{ json: {}, binary: { data: file, photo: file } }],
			});
			expect(result.errorOf(node.name)?.message).toBe(
				`${label} names no file of this item (it has data, photo)`,
			);
			expect(gateway.requests).toEqual([]);
		},
	);

	it.each([
		['Max Tokens', call('message', 'create', { model: byId('chat-1'), maxTokens: nothing })],
		['Limit', call('model', 'getAll', { limit: nothing })],
	])('says that %s is empty where an expression gives nothing', async (label, node) => {
		expect(await messageOf(node)).toContain(
			`${label} must be a whole number of at least 1 (it is empty)`,
		);
	});

	it('refuses Media (JSON) with a number that JSON cannot hold', async () => {
		const mediaJson = `[{ "type": "reference_image", "url": "${goodLink}", "weight": 1e999 }]`;
		const create = createReferenceVideo({ model: byId('gamma-3.0-r2v'), mediaJson });
		expect(await messageOf(create)).toContain('Media (JSON) is not valid JSON');
	});

	it('refuses Content (JSON) that is no JSON, and names the message', async () => {
		const message = { resource: 'message', operation: 'create', model: byId('chat-1') };
		const values = [{ role: 'user', content: '', contentJson: '[{ "type": ' }];
		expect(await messageOf(modelGateway({ ...message, messages: { values } }))).toBe(
			'Message 1: Content (JSON) must be JSON (it is "[{ \\"type\\":")',
		);
	});

	it('explains why an item of Wait for Video has no usable job ID', async () => {
		expect(await messageOf(waitForVideo())).toBe(
			'Job ID is empty: this item carries no job. Connect the node that ordered the video, or give its ID',
		);
		expect(await messageOf(waitForVideo(), { error: 'Item 3: Prompt is empty' })).toBe(
			'Job ID is empty: this item carries an error instead of a job (Item 3: Prompt is empty)',
		);
		for (const task_id of ['..', 'x'.repeat(10_000), 'a\ud800', '\udc00']) {
			expect(await messageOf(waitForVideo(), { task_id })).toMatch(
				/^Job ID is not the ID of a job \(it is ".{1,40}"\)$/,
			);
		}
	});
});
