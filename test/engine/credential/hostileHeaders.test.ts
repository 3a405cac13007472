import { earlierJob } from '../../support/workflows/earlierJobs';
import { json, redirect, startServer } from '../../support/http/scriptedServer';
import { chain, modelGateway, waitForVideo } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const key = 'sk-0123456789/abcdef+';
/** HTTP allows no control characters in a header except C1. This one starts a command to a terminal. */
const command = '\u009b31m';
const traces = /sk-01234|abcdef|[\u0080-\u009f]|\\u001b/;

const { gateway, runWorkflow } = withGateway({ isTimeSimulated: true, keys: { [key]: {} } });

const headers = (value: string) => ({
	'content-disposition': `attachment; filename="${value}.mp4"`,
	'x-request-id': value,
	etag: `"${value}"`,
	server: value,
});
const values = {
	'the key': key,
	'a command to a terminal': `a${command}b`,
	'thousands of characters': 'x'.repeat(3_000),
};
const rows = Object.entries(values);
/** The run of a wait for a finished video that is at this link. */
const waitFor = async (link: string) => {
	const { id } = earlierJob(gateway, 'task');
	const body = { status: 'completed', result_url: link, task_id: id };
	gateway.fault({ route: 'task', action: 'answer', times: 20, body: JSON.stringify(body) });
	return await runWorkflow(chain(waitForVideo()), { input: [{ json: { task_id: id } }] });
};

it.each(rows)('keeps headers of a storage host out of all output: %s', async (_, value) => {
	for (const [status, type] of [
		[200, `video/${value}`],
		[200, value],
		[403, `text/${value}`],
	] as const) {
		const storage = await startServer((response) => {
			response.writeHead(status, { ...headers(value), 'content-type': type });
			response.end(Buffer.alloc(2_000, status === 200 ? 1 : ' '));
		});
		const result = await waitFor(`${storage.url}/v`);
		const { message = '', description = '' } = result.errorOf('Wait for Video') ?? {};
		expect(JSON.stringify([result.data, message, description])).not.toMatch(traces);
		expect(message.length).toBeLessThan(700);
		expect(description?.length).toBeLessThan(1_500);
		const [{ binary } = { binary: undefined }] =
			result.status === 'success' ? result.items('Wait for Video') : [];
		expect((binary?.data.mimeType ?? '').length).toBeLessThan(150);
		expect((binary?.data.fileName ?? '').length).toBeLessThan(250);
	}
});

it.each(rows)('keeps headers and errors of the gateway out of the error: %s', async (_, value) => {
	const error = { message: `no ${value} \u001b[2J \u0000`, code: value, type: value };
	const body = JSON.stringify({ error });
	const more = { headers: headers(value), status: 400, times: 20 };
	gateway.fault({ route: 'models', action: 'answer', body, ...more });
	const models = modelGateway({ resource: 'model', operation: 'getAll', returnAll: true });
	const result = await runWorkflow(chain(models));
	const { message = '', description = '' } = result.errorOf('Model Gateway') ?? {};
	expect(`${message} ${description}`).not.toMatch(/sk-01234|[\0-\x08\x0b-\x1f\x7f-\x9f]/);
	expect(message.length).toBeLessThan(700);
	expect(description?.length).toBeLessThan(1_500);
});

it('does not follow a redirect of a video link when it contains the key', async () => {
	const storage = await startServer(json({}));
	const redirecting = await startServer(redirect(302, `${storage.url}/v.mp4?a=${key}`));
	const result = await waitFor(`${redirecting.url}/v.mp4`);
	expect(result.errorOf('Wait for Video')).toMatchObject({
		message: expect.stringMatching(/^Could not download .*: its link carries the API key$/),
		description: expect.stringMatching(/neither used nor shown.*finished and charged/),
	});
	expect(storage.requests).toEqual([]);
});
