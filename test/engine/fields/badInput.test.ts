import { withGateway } from '../../support/http/withGateway';
import { fileOf, nodeFor, png, run, type Fields, type Operation } from '../../support/nodes';
import {
	byId,
	chain,
	createReferenceVideo,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

const nothing = '={{ $json.nothing }}';
const goodLink = 'https://media.example/a.png';
const images = (link: string) => ({ values: [{ source: 'url', url: link }] });
const withMedia = (medium: Fields) =>
	nodeFor('referenceVideo.create', {
		model: byId('beta-2.7-r2v'),
		mediaInput: 'json',
		mediaJson: JSON.stringify([{ type: 'reference_image', ...medium }]),
	});
const ofImage = { imageSource: 'url', imageUrl: goodLink };

/** By the name of the field in the error: a node with this link in it. */
const linkFields: Array<[string, (link: string) => Node]> = [
	['Media 1: URL', (url) => withMedia({ url })],
	['Media 1: Voice URL', (link) => withMedia({ url: goodLink, reference_voice: link })],
	['Image URL', (imageUrl) => nodeFor('image.edit', { ...ofImage, imageUrl })],
	['Mask URL', (maskUrl) => nodeFor('image.edit', { ...ofImage, maskSource: 'url', maskUrl })],
	[
		'Message 1: Image 1',
		(link) => {
			const values = [{ role: 'user', content: 'Hi', images: images(link) }];
			return nodeFor('chat.complete', { messages: { values } });
		},
	],
	['Image 1', (link) => nodeFor('image.chat', { images: images(link) })],
];

describe('bad input', () => {
	const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });

	const messageOf = async (node: Node, json: Fields = {}) => {
		const result = await runWorkflow(chain(node), { input: [{ json }] });
		expect(gateway.requests).toEqual([]);
		return result.errorOf(node.name)?.message;
	};

	it.each(linkFields)(
		'refuses a link that the service cannot fetch: %s',
		async (label, nodeWith) => {
			expect(await messageOf(nodeWith('http://firm.example/a.png'))).toBe(
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

	it.each<[string, Operation, Fields]>([
		['Image Binary Field', 'image.edit', { imageBinaryField: '={{ $binary.photo }}' }],
		['Image Binary Field', 'image.edit', { imageBinaryField: nothing }],
		['Image Binary Field', 'image.edit', { imageSource: 'file', imageBinaryField: 'photo' }],
		[
			'Image 1',
			'image.chat',
			{ images: { values: [{ source: 'binary', binaryField: '={{ $binary.photo }}' }] } },
		],
	])('sends no other file where an expression gives no name: %s of %s %j', async (...row) => {
		const [label, name, more] = row;
		const file = fileOf(png);
		const input = [{ json: {}, binary: { data: file, photo: file } }];
		const result = await run(gateway, nodeFor(name, more), { input });
		expect(result.errorOf('Node')?.message).toBe(
			`${label} names no file of this item (it has data, photo)`,
		);
		expect(gateway.requests).toEqual([]);
	});

	it.each([
		['Max Tokens', nodeFor('message.create', { maxTokens: nothing })],
		['Limit', nodeFor('model.getAll', { returnAll: false, limit: nothing })],
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
		const values = [{ role: 'user', content: '', contentJson: '[{ "type": ' }];
		expect(await messageOf(nodeFor('message.create', { messages: { values } }))).toBe(
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
