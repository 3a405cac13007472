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
	it('names all problems of a video order at once, and sends nothing', async () => {
		const link = (url: string, type = 'reference_image') => ({ type, source: 'url', url });
		const create = createReferenceVideo({
			model: byId('alpha-1.1-r2v'),
			prompt: ' ',
			mediaInput: 'fields',
			media: {
				values: [
					link('ftp://firm.example/a.mp4', 'reference_video'),
					{ ...link('https://firm.example/a.png'), voiceUrl: 'https://firm.example/a.mp3' },
					link('https://firm.example/a.png https://firm.example/b.png'),
					link('=https://firm.example/{{ $json.name }}'),
					link('={{ ["https://firm.example/a.png", "https://firm.example/b.png"] }}'),
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
		expect(await messageOf(waitForVideo(), { task_id: '..' })).toBe(
			'Job ID is not the ID of a job (it is "..")',
		);
	});
});
