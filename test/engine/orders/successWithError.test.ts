import type { IDataObject } from 'n8n-workflow';
import { byId, chain, modelGateway } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// With Retry On Fail, n8n takes an output item with an `error` for a failure, and runs the node again.

const { gateway, runWorkflow } = withGateway({});

const chat = {
	id: 'chat_1',
	choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' } }],
};
const video = { id: 'video_1', status: 'queued' };
const embeddings = { data: [{ index: 0, embedding: [1, 2] }] };
const operations = {
	chat: [
		{ resource: 'chat', operation: 'complete', simplify: false },
		{ messages: { values: [{ role: 'user', content: 'Hello' }] } },
		chat,
	],
	videoCreate: [{ resource: 'video', operation: 'create' }, { prompt: 'A boat' }, video],
	embedding: [{ resource: 'embedding', operation: 'create' }, { input: 'A boat' }, embeddings],
} satisfies Record<string, [IDataObject, IDataObject, IDataObject]>;
type Route = keyof typeof operations;

const run = async (route: Route, response: IDataObject, input: IDataObject, options = {}) => {
	const [operation, parameters] = operations[route];
	const model = byId(route === 'videoCreate' ? 'vid-3.1' : 'any-model');
	const node = modelGateway(
		{ ...operation, ...parameters, model, options },
		{ name: 'Paid', retryOnFail: true, maxTries: 3, waitBetweenTries: 0 },
	);
	const body = JSON.stringify({ ...operations[route][2], ...response });
	gateway.fault({ route, action: 'answer', status: 200, body, times: Infinity });
	const result = await runWorkflow(chain(node), { mode: 'trigger', input: [{ json: input }] });
	const sent = gateway.requests.filter((request) => request.route === route).length;
	return { sent, json: result.items('Paid')[0].json };
};

const routes = Object.keys(operations) as Route[];

describe.each(routes)('a success of %s with Retry On Fail', (route) => {
	it.each(
		[['', 0, {}, [], 'no error'].map((error) => [JSON.stringify(error), error] as const)].flat(),
	)('is sent once when the service adds the error %s', async (_, error) => {
		const { sent, json } = await run(route, { error }, {});
		expect(sent).toBe(1);
		expect(json.error).toBeUndefined();
	});
});

it('keeps an error that a service adds to its success under another name', async () => {
	const { json } = await run('videoCreate', { error: 'no error' }, {});
	expect(json.service_error).toBe('no error');
});

it('does not take a job for an item that was left out when a service names such fields', async () => {
	const response = { ordered: false, preview: true, reason: 'accepted' };
	const { json } = await run('videoCreate', response, {});
	expect(json).toMatchObject({ id: 'video_1', service_ordered: false, preview: true });
	expect(json).not.toHaveProperty('ordered');
});

it('drops the job of an earlier order from the input fields, and no other output', async () => {
	const options = { includeInputFields: true };
	const earlier = { id: 'product-7', task_id: 'task_old', output: { task_id: 'task_old' } };
	const { json } = await run('videoCreate', {}, earlier, options);
	expect(json).toMatchObject({ id: 'video_1', status: 'queued' });
	expect(json).not.toHaveProperty('task_id');
	expect(json).not.toHaveProperty('output');
	const other = await run('videoCreate', {}, { output: 'An answer' }, options);
	expect(other.json).toMatchObject({ output: 'An answer' });
});
