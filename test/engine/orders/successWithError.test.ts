import { withGateway } from '../../support/http/withGateway';
import { nodeFor, run as runNode, type Fields, type Operation } from '../../support/nodes';

// With Retry On Fail, n8n takes an output item with an `error` for a failure, and runs the node again.

const { gateway } = withGateway({});

const chat = {
	id: 'chat_1',
	choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }],
};
const video = { id: 'video_1', status: 'queued' };
const successes = [
	['chat.complete', 'chat', chat],
	['video.create', 'videoCreate', video],
	['embedding.create', 'embedding', { data: [{ index: 0, embedding: [1, 2] }] }],
] as const;

const run = async (name: Operation, more: Fields, input: Fields = {}, options: Fields = {}) => {
	const [, route, answer] = successes.find(([own]) => own === name) ?? successes[0];
	const body = JSON.stringify({ ...answer, ...more });
	const fault = gateway.fault({ route, action: 'answer', body, times: Infinity });
	const tries = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
	const node = nodeFor(
		name,
		{ options, ...(name === 'chat.complete' && { simplify: false }) },
		tries,
	);
	const result = await runNode(gateway, node, { mode: 'trigger', input: [{ json: input }] });
	fault.remove();
	return { sent: gateway.requests.length, json: result.items('Node')[0].json };
};

it.each(successes)(
	'%s is sent once when the service adds an error to its success',
	async (name) => {
		for (const error of ['', 0, {}, [], 'no error']) {
			const before = gateway.requests.length;
			const { sent, json } = await run(name, { error });
			expect([sent - before, json.error]).toEqual([1, undefined]);
		}
	},
);

it('keeps an error that a service adds to its success under another name', async () => {
	const { json } = await run('video.create', { error: 'no error' });
	expect(json.service_error).toBe('no error');
});

it('does not take a job for an item that was left out when a service names such fields', async () => {
	const { json } = await run('video.create', { ordered: false, preview: true, reason: 'accepted' });
	expect(json).toMatchObject({ id: 'video_1', service_ordered: false, preview: true });
	expect(json).not.toHaveProperty('ordered');
});

it('drops the job of an earlier order from the input fields, and no other output', async () => {
	const options = { includeInputFields: true };
	const earlier = { id: 'product-7', task_id: 'task_old', output: { task_id: 'task_old' } };
	const { json } = await run('video.create', {}, earlier, options);
	expect(json).toMatchObject({ id: 'video_1', status: 'queued' });
	expect(json).not.toHaveProperty('task_id');
	expect(json).not.toHaveProperty('output');
	const other = await run('video.create', {}, { output: 'An answer' }, options);
	expect(other.json).toMatchObject({ output: 'An answer' });
});
