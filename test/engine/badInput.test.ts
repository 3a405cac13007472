import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../gateway';
import { runWorkflow } from '../harness';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	waitForVideo,
} from './support/workflows';

describe('bad input gets a clear message before anything is sent', () => {
	let gateway: Gateway;
	beforeAll(async () => void (gateway = await startGateway({ jobSeconds: 60 })));
	afterAll(async () => await gateway.close());

	const messageOf = async (
		node: ReturnType<typeof modelGateway>,
		json: IDataObject = {},
		credential = {},
	) => {
		const before = gateway.requests.length;
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway, credential),
			input: [{ json }],
		});
		expect(gateway.requests).toHaveLength(before);
		return result.errorOf(node.name)?.message;
	};
	const image = { type: 'reference_image', url: 'https://example.com/a.png' };

	it('names all problems of an order at once', async () => {
		const create = createReferenceVideo({
			model: byId('alpha-1.1-r2v'),
			prompt: ' ',
			options: { duration: 20, seed: -1, ratio: '1:1', resolution: '4K' },
		});
		const media = [
			{ type: 'reference_video', url: 'ftp://example.com/a.mp4' },
			{ ...image, reference_voice: 'https://example.com/a.mp3' },
		];
		expect(await messageOf(create, { media })).toBe(
			'Item 0: Prompt is empty; ' +
				'Media 1: URL must be a public https link, and this one starts with ftp://; ' +
				'Media 1: Type must be reference_image for alpha-1.1-r2v (it is "reference_video"); ' +
				'Media 2: Voice URL is not taken by alpha-1.1-r2v; ' +
				'Resolution must be one of 720P, 1080P (it is "4K"); ' +
				'Ratio is not taken by alpha-1.1-r2v; remove it; ' +
				'Duration (Seconds) must be a whole number from 2 to 15 (it is 20); ' +
				'Seed must be a whole number from 0 to 2147483647 (it is -1)',
		);
	});

	it.each([
		['no media', {}, { media: [] }, 'Item 0: Media must have at least one item'],
		[
			'too many references',
			{},
			{ media: Array(6).fill(image) },
			'Item 0: Media must have at most 5 reference_image and reference_video items for beta-2.7-r2v (it has 6)',
		],
		[
			'two first frames',
			{},
			{ media: [image, { ...image, type: 'first_frame' }, { ...image, type: 'first_frame' }] },
			'Item 0: Media must have at most 1 first_frame (it has 2)',
		],
		[
			'a long clip with a video',
			{ options: { duration: 12 } },
			{ media: [{ type: 'reference_video', url: 'https://example.com/a.mp4' }] },
			'Item 0: Duration (Seconds) must be a whole number from 2 to 10 (it is 12), because a reference video is given',
		],
		[
			'a prompt that is no text',
			{},
			{ media: [image], prompt: ['A boat'] },
			'Item 0: Prompt must be a text (it is a list)',
		],
		[
			'a prompt that is too long',
			{},
			{ media: [image], prompt: '𝄞'.repeat(5001) },
			'Item 0: Prompt must be at most 5000 characters (it has 5001)',
		],
		[
			'no list of media',
			{},
			{ media: 'none' },
			'Item 0: Media (JSON) must be a list of objects with type and url; Media must have at least one item',
		],
		[
			'a voice of another type',
			{},
			{ media: [{ ...image, reference_voice: 'https://example.com/a.ogg' }] },
			'Item 0: Media 1: Voice URL must lead to a wav or mp3 file',
		],
		[
			'a link of the own network',
			{},
			{ media: [{ ...image, url: 'https://192.168.0.7/a.png' }] },
			'Item 0: Media 1: URL must be a link that the gateway can fetch; 192.168.0.7 is reachable from your own network only',
		],
	])('refuses %s', async (_, parameters, json, message) => {
		expect(await messageOf(createReferenceVideo(parameters), json)).toBe(message);
	});

	it('takes five references and a first frame, which does not count', async () => {
		const media = [...Array(5).fill(image), { ...image, type: 'first_frame' }];
		const result = await runWorkflow(chain(createReferenceVideo()), {
			credentials: credentialFor(gateway),
			input: [{ json: { media, prompt: '𝄞'.repeat(5000) } }],
		});
		expect(result.status).toBe('success');
	});

	it('pays nothing when one item of ten is bad, and says which', async () => {
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

	it('sends the good items and reports the bad one when the node continues', async () => {
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

	it('explains an item that carries no job', async () => {
		expect(await messageOf(waitForVideo())).toBe(
			'Item 0: Job ID is empty: this item carries no job. Lead the node that created the job here, or give its ID',
		);
		expect(await messageOf(waitForVideo(), { error: 'Item 3: Prompt is empty' })).toBe(
			'Item 0: Job ID is empty: this item carries an error instead of a job (Item 3: Prompt is empty)',
		);
		expect(await messageOf(waitForVideo(), { task_id: '..' })).toBe(
			'Item 0: Job ID is not the ID of a job (it is "..")',
		);
	});

	it('explains a credential that cannot work', async () => {
		const list = modelGateway({ resource: 'model', operation: 'getAll' });
		expect(await messageOf(list, {}, { baseUrl: 'gateway.example.com', apiKey: 'Bearer ' })).toBe(
			'Item 0: Model Gateway credential: API Key is empty; Base URL must be an address that starts with https://',
		);
	});
});
