import type { Gateway } from '../../../gateway';
import { runWorkflow, type WorkflowRun } from '../../harness';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { startServer } from '../../support/http/scriptedServer';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	waitForVideo,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

const key = 'sk-0123456789/abcdef+';
/** HTTP allows no control characters in a header except C1. This one starts a command to a terminal. */
const command = '\u009b31m';
const traces = /sk-01234|abcdef|[\u0080-\u009f]|\\u001b/;

let gateway: Gateway;
withGateway({ isTimeSimulated: true, keys: { [key]: {} } }, (world) => void ({ gateway } = world));

const headers = (value: string) => ({
	...{ 'content-disposition': `attachment; filename="${value}.mp4"`, 'x-request-id': value },
	...{ etag: `"${value}"`, server: value },
});
const values = {
	'the key': key,
	'a command to a terminal': `a${command}b`,
	'thousands of characters': 'x'.repeat(3_000),
};
const check = (result: WorkflowRun, node: string) => {
	const { message = '', description = '' } = result.errorOf(node) ?? {};
	expect(JSON.stringify([result.data, message, description])).not.toMatch(traces);
	expect(message.length).toBeLessThan(700);
	expect(description?.length).toBeLessThan(1_500);
};

describe.each(Object.entries(values))('headers with %s', (_, value) => {
	it.each([200, 403])(
		'keeps hostile headers of a storage host out of all output (HTTP %d)',
		async (status) => {
			for (const type of [`video/${value}`, value, `text/${value}`]) {
				const storage = await startServer((response) => {
					response.writeHead(status, { ...headers(value), 'content-type': type });
					response.end(Buffer.alloc(2_000, status === 200 ? 1 : ' '));
				});
				const { id } = earlierJob(gateway, 'task');
				const body = { status: 'completed', result_url: `${storage.url}/v`, task_id: id };
				gateway.fault({ route: 'task', action: 'answer', times: 20, body: JSON.stringify(body) });
				const wait = await runWorkflow(chain(waitForVideo()), {
					credentials: credentialFor(gateway),
					input: [{ json: { task_id: id } }],
				});
				check(wait, 'Wait for Video');
				const [{ binary } = { binary: undefined }] =
					wait.status === 'success' ? wait.items('Wait for Video') : [];
				expect((binary?.data.mimeType ?? '').length).toBeLessThan(150);
				expect((binary?.data.fileName ?? '').length).toBeLessThan(250);

				const data = JSON.stringify({ data: [{ url: `${storage.url}/i` }] });
				gateway.fault({ route: 'imageGenerate', action: 'answer', body: data });
				const generate = modelGateway({
					...{ resource: 'image', operation: 'generate', model: byId('image-1'), prompt: 'A boat' },
				});
				check(
					await runWorkflow(chain(generate), { credentials: credentialFor(gateway) }),
					'Model Gateway',
				);
			}
		},
	);

	it.each([200, 400, 503])(
		'keeps hostile headers and errors of the gateway out of the error (HTTP %d)',
		async (status) => {
			const error = { message: `no ${value} \u001b[2J \u0000`, code: value, type: value };
			const body = JSON.stringify(status === 200 ? { data: [] } : { error });
			const more = { headers: headers(value), status, times: 20 };
			gateway.fault({ route: 'models', action: 'answer', body, ...more });
			const models = modelGateway({ resource: 'model', operation: 'getAll', returnAll: true });
			const result = await runWorkflow(chain(models), { credentials: credentialFor(gateway) });
			const { message = '', description = '' } = result.errorOf('Model Gateway') ?? {};
			expect(`${message} ${description}`).not.toMatch(/sk-01234|[\0-\x08\x0b-\x1f\x7f-\x9f]/);
			expect(message.length).toBeLessThan(700);
			expect(description?.length).toBeLessThan(1_500);
		},
	);
});
