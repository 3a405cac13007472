import { answer, nginxPage, nobody, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { waitForVideo } from '../support/workflows/workflows';
import { allOperations, detailsOf, itemsOf, nodeFor, run, type Fields } from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true });

const refusal = { message: 'no such style', type: 'invalid', param: 'style', code: 'bad_style' };
const refuse = (status = 400, error: Fields = refusal) => {
	const body = JSON.stringify({ error });
	const rule = { action: 'answer', status, body, headers: { 'x-request-id': 'req-7' } } as const;
	gateway.fault({ ...rule, route: 'imageGenerate' });
	return body;
};

it('tells everything that the service said of a refusal, whether it is charged, and what to do', async () => {
	const body = refuse();
	expect(await detailsOf(gateway, 'image.generate')).toEqual({
		message: expect.stringContaining('no such style'),
		advice: expect.stringMatching(/\w/),
		status: 400,
		code: 'bad_style',
		type: 'invalid',
		param: 'style',
		request_id: 'req-7',
		billed: 'no',
		retry_can_help: false,
		raw_body: body,
	});
});

it('stops the workflow with one line that says it, advice, and the request ID', async () => {
	refuse();
	const error = (await run(gateway, nodeFor('image.generate'))).errorOf('Node');
	expect(error?.message).toMatch(/^Could not .*no such style.*HTTP 400, bad_style/);
	expect(error?.description).toMatch(/^Nothing was charged\..*Request ID req-7/s);
	expect(error).toMatchObject({ httpCode: '400' });
});

it('gives the same record with Continue and with Stop', async () => {
	refuse();
	const stopped = (await run(gateway, nodeFor('image.generate'))).errorOf('Node');
	refuse();
	expect(stopped?.context.data).toMatchObject(await detailsOf(gateway, 'image.generate'));
});

it('names the item that failed, unless it is the only one', async () => {
	const blocked = { text: '[blocked]' };
	const errorOf = async (...texts: Fields[]) =>
		(await run(gateway, nodeFor('chat.complete'), { input: itemsOf(...texts) })).errorOf('Node');
	expect((await errorOf({}, {}, blocked))?.message).toMatch(/^Item 2: Could not/);
	expect((await errorOf(blocked))?.message).toMatch(/^Could not/);
});

it.each<[string, () => Promise<{ url: string; apiKey: string }>, Fields]>([
	[
		'the key is wrong',
		async () => ({ url: gateway.url, apiKey: 'wrong-key-0123456789' }),
		{ status: 401, code: 'invalid_api_key', billed: 'no', retry_can_help: false },
	],
	[
		'nothing listens',
		async () => ({ url: nobody, apiKey: 'a-key-0123456789' }),
		{ message: expect.stringMatching(/could not be reached/), status: 0, billed: 'no' },
	],
	[
		'a web page comes in place of JSON',
		async () => ({
			url: (await startServer(answer(200, nginxPage(200), { 'content-type': 'text/html' }))).url,
			apiKey: 'a-key-0123456789',
		}),
		{ message: expect.stringMatching(/web page/), status: 200, raw_body: nginxPage(200) },
	],
])('says for every operation that %s', async (_, addressOf, expected) => {
	const json = {
		task_id: earlierJob(gateway, 'task').id,
		id: earlierJob(gateway, 'video').id,
	};
	const address = await addressOf();
	for (const name of allOperations) {
		const details = await detailsOf(address, name, { input: itemsOf(json) });
		// A job that exists may be charged, whatever became of a request about it.
		const billed = /get$|getContent$/.test(name) ? 'unknown' : 'no';
		expect({ name, ...details }).toMatchObject({
			name,
			advice: expect.stringMatching(/\w/),
			...expected,
			...(expected.billed === 'no' && { billed }),
		});
	}
});

it('says why a job failed, and gives its ID', async () => {
	const { id } = earlierJob(gateway, 'task');
	gateway.jobs.fail(id, { code: 'upstream_error', message: 'No luck' });
	const wait = waitForVideo({}, { name: 'Node', onError: 'continueRegularOutput' });
	const result = await run(gateway, wait, { input: itemsOf({ task_id: id }) });
	expect(result.items('Node')[0].json).toMatchObject({
		error: expect.stringMatching(new RegExp(`${id} failed: No luck`)),
		details: { job: { id }, advice: expect.stringMatching(/\w/) },
	});
});
