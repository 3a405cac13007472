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

	const messageOf = async (node: Node, json: IDataObject = {}) => {
		const before = gateway.requests.length;
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: [{ json }],
		});
		expect(gateway.requests).toHaveLength(before);
		return result.errorOf(node.name)?.message;
	};
	it.each([
		['ftp://firm.example/a.mp4', 'must be a public https link, and this one starts with ftp://'],
		[
			'https://firm.example/a.png https://firm.example/b.png',
			'must be one link (it holds 2): add one entry for each (Add Media)',
		],
		[
			'=https://firm.example/{{ $json.name }}',
			'must have no space inside; write %20 for one in the name of a file',
		],
		[
			'={{ ["https://firm.example/a.png", "https://firm.example/b.png"] }}',
			'must be one link (it holds 2): add one entry for each (Add Media)',
		],
	])('says what is wrong with the link %s', async (url, problem) => {
		const media = { values: [{ type: 'reference_image', source: 'url', url }] };
		const create = createReferenceVideo({ mediaInput: 'fields', media });
		expect(await messageOf(create, { name: 'my cat.png' })).toBe(`Media 1: URL ${problem}`);
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
