import type { Route } from '../../../gateway';
import { withGateway } from '../../support/http/withGateway';
import { nodeFor, png, run as runNode, type Fields, type Operation } from '../../support/nodes';

describe('complete responses', () => {
	const { gateway } = withGateway({});

	const run = async (name: Operation, more: Fields = {}, input: Fields[] = [{}]) => {
		const node = nodeFor(name, { simplify: false, ...more });
		const result = await runNode(gateway, node, { input: input.map((json) => ({ json })) });
		expect(result.errorOf('Node')).toBeUndefined();
		return result.items('Node');
	};
	const answers = (route: Route, body: object) =>
		gateway.fault({ route, action: 'answer', body: JSON.stringify(body) });
	const request_id = expect.any(String);

	it('returns each response of a list that takes several requests, with base64 vectors as numbers', async () => {
		const options = { batchSize: 2, encodingFormat: 'base64' };
		const items = await run('embedding.create', { options }, [{ text: ['one', 'two', 'three'] }]);
		expect(items.map(({ json }) => json.data)).toEqual([
			[0, 1].map((index) => expect.objectContaining({ index, embedding: expect.any(Array) })),
			[expect.objectContaining({ index: 0, embedding: expect.any(Array) })],
		]);
		for (const { json, pairedItem } of items) {
			expect(json).toMatchObject({ object: 'list', usage: { total_tokens: expect.any(Number) } });
			expect(pairedItem).toEqual({ item: 0 });
		}
		expect(items[0].json.request_id).not.toBe(items[1].json.request_id);
	});

	it('returns images by chat with the whole completion, and moves image data into files', async () => {
		const data = png.toString('base64');
		const link = 'https://pictures.example/2.png';
		const message = (content: unknown) => ({ role: 'assistant', content, thinking: 'Hm' });
		const body = (image: string, second: string) => ({
			id: 'c1',
			object: 'chat.completion',
			created: 7,
			model: 'm',
			region: 'eu',
			choices: [
				{ index: 0, message: message(`![a](${image})`), finish_reason: 'stop', logprobs: null },
				{ index: 1, message: message([{ type: 'text', text: `![b](${second})` }]) },
				{ index: 2, message: message('No image') },
			],
			usage: { total_tokens: 9 },
		});
		answers('chat', body(`data:image/png;base64,${data}`, link));
		const items = await run('image.chat', { download: false });
		const { usage, ...whole } = body('data:image', link);
		expect(items.map(({ json }) => json)).toEqual([
			{ ...whole, usage, request_id, index: 0, text: '![a](data:image)', finish_reason: 'stop' },
			{ ...whole, request_id, index: 1, url: link, text: `![b](${link})` },
		]);
		expect(items[0].binary?.data.mimeType).toBe('image/png');
	});

	it('renames the task_id of a video job, so that no later node takes it for a task', async () => {
		const job = { id: 'video_1', status: 'queued', seconds: 8 };
		const body = { ...job, task_id: 'task_1', output: { task_id: 'task_2' } };
		const renamed = { service_task_id: 'task_1', output: { service_task_id: 'task_2' } };
		const kept = { ...job, ...renamed };
		answers('videoCreate', body);
		const [created] = await run('video.create');
		expect(created.json).toEqual({ ...kept, request_id });
		answers('video', body);
		const [polled] = await run('video.get', {}, [created.json]);
		expect(polled.json).toEqual({ ...kept, request_id });
		expect(gateway.requests.at(-1)?.url).toBe('/v1/videos/video_1');
	});
});
