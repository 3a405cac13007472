import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

describe('bad input', () => {
	let gateway: Gateway;
	beforeAll(async () => void (gateway = await startGateway({ jobSeconds: 60 })));
	afterAll(async () => await gateway.close());

	const messageOf = async (node: Node, json: IDataObject = {}, credential = {}) => {
		const before = gateway.requests.length;
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway, credential),
			input: [{ json }],
		});
		expect(gateway.requests).toHaveLength(before);
		return result.errorOf(node.name)?.message;
	};
	const image = { type: 'reference_image', url: 'https://example.com/a.png' };

	it('names all problems of a video order at once, and sends nothing', async () => {
		const link = (url: string, type = 'reference_image') => ({ type, source: 'url', url });
		const create = createReferenceVideo({
			model: byId('alpha-1.1-r2v'),
			prompt: ' ',
			mediaInput: 'fields',
			media: {
				values: [
					link('ftp://example.com/a.mp4', 'reference_video'),
					{ ...link('https://example.com/a.png'), voiceUrl: 'https://example.com/a.mp3' },
					link('https://example.com/a.png https://example.com/b.png'),
					link('=https://example.com/{{ $json.name }}'),
					link('={{ ["https://example.com/a.png", "https://example.com/b.png"] }}'),
				],
			},
			options: { duration: 20, seed: -1, ratio: '1:1', resolution: '4K' },
		});
		expect(await messageOf(create, { name: 'my cat.png' })).toBe(
			'Prompt is empty; ' +
				'Media 1: URL must be a public https link, and this one starts with ftp://; ' +
				'Media 3: URL must be one link (it holds 2): add one entry for each (Add Media); ' +
				'Media 4: URL must have no space inside; write %20 for one in the name of a file; ' +
				'Media 5: URL must be one link (it holds 2): add one entry for each (Add Media); ' +
				'Media 1: Type must be Reference Image for alpha-1.1-r2v (it is "Reference Video"); ' +
				'Media 2: Voice URL cannot be used with alpha-1.1-r2v; ' +
				'Resolution must be one of 720P, 1080P (it is "4K"); ' +
				'Duration (Seconds) must be a whole number from 2 to 15 (it is 20); ' +
				'Seed must be a whole number from 0 to 2147483647 (it is -1)',
		);
	});

	it('says to fill in or delete a media entry without a URL', async () => {
		const problem = 'Media 1: URL is empty: give a link, or delete this entry';
		const untouched = createReferenceVideo({ mediaInput: 'fields', mediaJson: undefined });
		expect(await messageOf(untouched)).toBe(problem);
		const blank = { values: [{ type: 'reference_image', source: 'url', url: ' ' }] };
		const alpha = { model: byId('alpha-1.1-r2v'), mediaInput: 'fields', media: blank };
		expect(await messageOf(createReferenceVideo(alpha))).toBe(problem);
	});

	it.each([
		['an empty list of media', {}, { media: [] }, 'Media must have at least one entry'],
		[
			'null as its media JSON',
			...([{ mediaJson: 'null' }, {}, 'Media must have at least one entry'] as const),
		],
		[
			'too many references',
			{},
			{ media: Array(6).fill(image) },
			'Media must have at most 5 reference image and reference video entries for beta-2.7-r2v (it has 6)',
		],
		[
			'two first frames',
			{},
			{ media: [image, { ...image, type: 'first_frame' }, { ...image, type: 'first_frame' }] },
			'Media must have at most 1 first_frame (it has 2)',
		],
		[
			'too long a duration for a reference video',
			{ options: { duration: 12 } },
			{ media: [{ type: 'reference_video', url: 'https://example.com/a.mp4' }] },
			'Duration (Seconds) must be a whole number from 2 to 10 (it is 12), because a reference video is given',
		],
		[
			'a prompt that is not text',
			{},
			{ media: [image], prompt: ['A boat'] },
			'Prompt must be a text (it is a list)',
		],
		[
			'a prompt that is too long',
			{},
			{ media: [image], prompt: '𝄞'.repeat(5001) },
			'Prompt must be at most 5000 characters (it has 5001)',
		],
		[
			'text that is not a link as its media',
			{},
			{ media: 'none' },
			'Media 1: URL must be a link that starts with https:// (it is "none")',
		],
		[
			'broken media JSON',
			{ mediaJson: '[{ "type": "reference_image", ]' },
			{},
			'Media (JSON) is not valid JSON; Media must have at least one entry',
		],
		[
			'media that are neither links nor objects',
			{},
			{ media: [image, 7] },
			'Media (JSON) must be a list of links, or of objects with type and url; Media 2: URL is empty; Media 2: Type must be reference_image or reference_video or first_frame for beta-2.7-r2v (it is empty)',
		],
		[
			'several links in one list entry',
			{},
			{ media: ['https://example.com/a.png, https://example.com/b.png'] },
			'Media 1: URL must be one link (it holds 2): make it a list of them',
		],
		[
			'a link to a page instead of the file',
			{},
			{ media: ['https://drive.google.com/file/d/1aB/view?usp=sharing'] },
			'Media 1: URL leads to a page of Google Drive, not to the file: use https://drive.google.com/uc?export=download&id=1aB',
		],
		[
			'a path on a computer instead of a link',
			{},
			{ media: [{ ...image, url: 'C:\\cats\\a.png' }] },
			'Media 1: URL is a path on a computer, not a link (it is "C:\\cats\\a.png"); upload the file, and give its public link',
		],
		[
			'a voice that is neither wav nor mp3',
			{},
			{ media: [{ ...image, reference_voice: 'https://example.com/a.ogg' }] },
			'Media 1: Voice URL must lead to a wav or mp3 file',
		],
		[
			'a link to a private network',
			{},
			{ media: [{ ...image, url: 'https://192.168.0.7/a.png' }] },
			'Media 1: URL must be a link that the gateway can fetch; 192.168.0.7 is reachable from your own network only',
		],
	])('refuses a video order with %s', async (_, parameters, json, message) => {
		expect(await messageOf(createReferenceVideo(parameters), json)).toBe(message);
	});

	const photo = 'https://www.dropbox.com/s/abc/cat.png?dl=0';
	const direct = 'https://www.dropbox.com/s/abc/cat.png?dl=1';

	it.each([
		[
			{ resource: 'image', operation: 'edit', imageSource: 'url', imageUrl: photo },
			`Image URL leads to a page of Dropbox, not to the file: use ${direct}`,
		],
		[
			{
				...{ resource: 'chat', operation: 'complete' },
				messages: {
					values: [{ role: 'user', content: 'What is it?', images: { values: [{ url: photo }] } }],
				},
			},
			`Message 1: Image 1 leads to a page of Dropbox, not to the file: use ${direct}`,
		],
		[
			{
				...{ resource: 'image', operation: 'chat' },
				images: {
					values: [{ source: 'url', url: '={{ ["https://a.example/a", "https://a.example/b"] }}' }],
				},
			},
			'Image 1 must be one link (it holds 2): add one entry for each (Add Image)',
		],
	])('refuses an image link that is a page or several links: %j', async (parameters, message) => {
		const more = { model: byId('any-1'), prompt: 'A cat' };
		expect(await messageOf(modelGateway({ ...more, ...parameters }))).toBe(message);
	});

	it('accepts a first frame in addition to the maximum of five references', async () => {
		const media = [...Array(5).fill(image), { ...image, type: 'first_frame' }];
		const result = await runWorkflow(chain(createReferenceVideo()), {
			credentials: credentialFor(gateway),
			input: [{ json: { media, prompt: '𝄞'.repeat(5000) } }],
		});
		expect(result.status).toBe('success');
	});

	it('names the first bad item of ten, and sends nothing', async () => {
		const charges = gateway.ledger.length;
		const input = Array.from({ length: 10 }, (_, item) => ({
			json: { media: [image], prompt: item === 6 || item === 8 ? '' : 'Fine' },
		}));
		const result = await runWorkflow(
			chain(createReferenceVideo({ prompt: '={{ $json.prompt }}' })),
			{
				credentials: credentialFor(gateway),
				input,
			},
		);
		expect(result.errorOf('Create')?.message).toBe('Item 6: Prompt is empty');
		expect(gateway.ledger).toHaveLength(charges);
	});

	it('orders the good items and reports the bad one when the node continues on errors', async () => {
		const create = createReferenceVideo(
			{ prompt: '={{ $json.prompt }}' },
			{ onError: 'continueErrorOutput' },
		);
		const result = await runWorkflow(chain(create), {
			credentials: credentialFor(gateway),
			input: ['First', '', 'Third'].map((prompt) => ({ json: { prompt, media: [image] } })),
		});
		expect(result.items('Create', { output: 0 }).map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 2 },
		]);
		expect(result.items('Create', { output: 1 })).toMatchObject([
			{
				json: { error: 'Prompt is empty', details: { billed: 'no', status: 0 } },
				pairedItem: { item: 1 },
			},
		]);
	});

	it.each<[string, string, string]>([
		['an expression without a result', '={{ $json.missing }}', 'empty'],
		['an empty text', '', '""'],
		['unknown text', 'yes', '"yes"'],
		['a number', '={{ 7 }}', '7'],
		['an object', '={{ { send: "again" } }}', 'an object'],
	])(
		'refuses %s as If No Response Arrives, even with Skip Checks',
		async (_, ifAnswerLost, given) => {
			const options = { ifAnswerLost, skipChecks: true };
			const video = modelGateway({
				...{ resource: 'video', operation: 'create', model: byId('vid-3.1') },
				...{ prompt: 'A boat', options },
			});
			const problem = `If No Response Arrives must be stop or resend (it is ${given})`;
			expect(await messageOf(video)).toBe(problem);
			const media = [image];
			expect(await messageOf(createReferenceVideo({ options }), { media })).toBe(problem);
		},
	);

	it('explains why an item of Wait for Video has no usable job ID', async () => {
		expect(await messageOf(waitForVideo())).toBe(
			'Job ID is empty: this item carries no job. Connect the node that ordered the video, or give its ID',
		);
		expect(await messageOf(waitForVideo(), { error: 'Item 3: Prompt is empty' })).toBe(
			'Job ID is empty: this item carries an error instead of a job (Item 3: Prompt is empty)',
		);
		expect(await messageOf(waitForVideo(), { task_id: '..' })).toBe(
			'Job ID is not the ID of a job (it is "..")',
		);
	});

	it('names all problems of a credential at once, and sends nothing', async () => {
		const list = modelGateway({ resource: 'model', operation: 'getAll' });
		expect(await messageOf(list, {}, { baseUrl: 'gateway.example.com', apiKey: 'Bearer ' })).toBe(
			'Model Gateway credential: API Key is empty; Base URL must be an address that starts with https://',
		);
	});
});
