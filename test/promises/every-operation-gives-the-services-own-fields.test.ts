import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { nodeFor, run, type Fields, type Operation } from '../support/nodes';

const { gateway } = withGateway({ jobSeconds: Infinity });

const outputs = async (name: Operation, parameters: Fields = {}, input = [{ json: {} }]) =>
	(await run(gateway, nodeFor(name, parameters), { input })).items('Node').map(({ json }) => json);

it('gives what a chat says, and the whole completion with Simplify off', async () => {
	const [{ usage, ...simple }] = await outputs('chat.complete');
	expect(simple).toEqual({
		text: expect.stringContaining('Hello'),
		finish_reason: 'stop',
		model: 'chat-1',
		request_id: gateway.ledger[0].requestId,
	});
	expect(usage).toMatchObject({ total_tokens: gateway.ledger[0].quantity });
	const [whole] = await outputs('chat.complete', { simplify: false });
	expect(whole).toMatchObject({
		object: 'chat.completion',
		choices: [{ message: { role: 'assistant', content: simple.text }, finish_reason: 'stop' }],
		request_id: gateway.ledger[1].requestId,
	});
});

it('gives each of several answers as an item with its index', async () => {
	const items = await outputs('chat.complete', { options: { n: 3 } });
	expect(items.map(({ index }) => index)).toEqual([0, 1, 2]);
	// The cost of a response comes once, so that it can be added up.
	expect(items.filter(({ usage }) => usage)).toHaveLength(1);
});

it('gives what a native message says, and a vector, with the ID of the request', async () => {
	const [message] = await outputs('message.create');
	expect(message).toMatchObject({
		text: expect.stringContaining('Hello'),
		model: 'chat-1',
		stop_reason: 'end_turn',
		request_id: gateway.ledger[0].requestId,
	});
	const [vector] = await outputs('embedding.create');
	expect(vector).toMatchObject({ model: 'embed-1', request_id: gateway.ledger[1].requestId });
	expect(vector.embedding).toHaveLength(256);
});

it('gives the fields of a job as the service names them, from the order to the content', async () => {
	const [task] = await outputs('referenceVideo.create');
	const { task_id } = task.output as Fields;
	expect(task).toMatchObject({
		output: { task_id: expect.stringMatching(/^task_/), task_status: 'PENDING' },
		request_id: gateway.ledger[0].requestId,
	});
	const [video] = await outputs('video.create');
	expect(video).toMatchObject({ id: gateway.ledger[1].job, object: 'video', status: 'queued' });

	for (const id of [String(task_id), String(video.id)]) gateway.jobs.complete(id, Buffer.alloc(9));
	const [done] = await outputs('referenceVideo.get', {}, [{ json: { task_id } as object }]);
	expect(done).toMatchObject({
		task_id,
		status: 'completed',
		progress: 100,
		request_id: expect.stringMatching(/^req_/),
		result_url: expect.stringContaining(gateway.storageUrl),
	});
	const byId = [{ json: { id: video.id } as object }];
	expect(await outputs('video.get', {}, byId)).toMatchObject([
		{ id: video.id, status: 'completed' },
	]);
	const [content] = await outputs('video.getContent', { download: false }, byId);
	expect(content).toMatchObject({ id: video.id, url: expect.stringContaining(gateway.storageUrl) });
});

it('gives a field that nobody knows yet as it came', async () => {
	const { id } = earlierJob(gateway, 'video');
	const body = { id, status: 'resting', eta_seconds: 12, stages: [{ name: 'draw', done: false }] };
	gateway.fault({ route: 'video', action: 'answer', body: JSON.stringify(body) });
	expect(await outputs('video.get', {}, [{ json: { id } as object }])).toMatchObject([body]);
});

it('lists all models, some of them, or those with a text in their ID', async () => {
	const ids = async (more: Fields) => (await outputs('model.getAll', more)).map(({ id }) => id);
	const all = await ids({ returnAll: true });
	expect(all).toEqual(expect.arrayContaining(['chat-1', 'beta-2.7-r2v']));
	expect(await ids({ returnAll: false, limit: 2 })).toEqual(all.slice(0, 2));
	expect(await ids({ filter: 'R2V' })).toEqual(all.filter((id) => String(id).includes('r2v')));
	const [none] = await outputs('model.getAll', { filter: 'no such model' });
	expect(none).toMatchObject({ count: 0, reason: expect.stringMatching(/\w/) });
});
