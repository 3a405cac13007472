import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ensureCommands } from '../n8n/debian';
import { Instance } from '../n8n/instance';
import { callWebhook, isOpen } from '../n8n/owner';
import {
	byId,
	modelGateway,
	startedByWebhook,
	waitForVideo,
	withCredential,
} from '../support/workflows';
import { titledVideos } from '../support/samples';
import { until } from '../support/until';

/** The commands of the guide, as a reader copies them. */
const [, retryAll, listJobs] = (() => {
	const guide = readFileSync(path.join(__dirname, '../../docs/queue-mode.md'), 'utf8');
	const [, section] = guide.split('## Many executions at once');
	return [...section.matchAll(/```sh\n(.*?)```/gs)].map(([, commands]) => commands);
})();

const count = 3;

it('the guide’s commands list the jobs of failed executions, and retry all of them without another order', async () => {
	await ensureCommands({ jq: 'jq', curl: 'curl' });
	await Instance.withGateway(titledVideos(1), async (instance, gateway) => {
		const { owner, url } = instance;
		const { rawApiKey: N8N_API_KEY } = await owner.request<{ rawApiKey: string }>(
			'POST',
			'/api-keys',
			{
				...{ label: 'Operator', expiresAt: null },
				scopes: ['execution:list', 'execution:read', 'execution:retry'],
			},
		);
		const run = async (commands: string) => {
			const env = { ...process.env, N8N: url, N8N_API_KEY };
			const { stdout, stderr } = await promisify(execFile)('bash', ['-c', commands], { env });
			expect(stderr).toBe('');
			return stdout;
		};
		const refused = gateway.fault({
			route: 'video',
			action: 'answer',
			status: 401,
			times: Infinity,
		});
		const credential = await owner.createCredential(gateway);
		const order = modelGateway({
			...{ resource: 'video', operation: 'create', model: byId('vid-3.1'), prompt: 'A boat' },
		});
		const row = startedByWebhook({ path: 'many' }, order, waitForVideo({ whileWaiting: 'hold' }));
		const settings = { saveExecutionProgress: true };
		const workflow = await owner.createPublished(withCredential({ ...row, settings }, credential));
		for (let index = 0; index < count; index++) await callWebhook(url, 'many');
		const statuses = async () => (await owner.executionsOf(workflow)).map(({ status }) => status);
		const haveEnded = async (number: number) => {
			const all = await statuses();
			return all.length === number && !all.some((status) => isOpen({ status }));
		};
		await until(async () => await haveEnded(count));
		expect(await statuses()).toEqual(Array(count).fill('error'));

		const jobs = gateway.jobs.list().map(({ id }) => id);
		expect((await run(listJobs)).trim().split('\n').sort()).toEqual(jobs.sort());

		refused.remove();
		await run(retryAll);
		await until(async () => await haveEnded(2 * count));
		expect((await statuses()).filter((status) => status === 'success')).toHaveLength(count);
		expect(gateway.ledger).toHaveLength(count);
		// All have been retried with success, so another run retries none.
		await run(retryAll);
		expect(await statuses()).toHaveLength(2 * count);
	});
}, 300_000);
