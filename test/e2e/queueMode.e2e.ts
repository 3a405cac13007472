import type { IWorkflowBase, IWorkflowSettings } from 'n8n-workflow';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startGateway, type Gateway } from '../../gateway';
import { startDatabase } from '../n8n/database';
import { ensureCommands } from '../n8n/debian';
import { chargesOf } from '../n8n/charges';
import { freePort } from '../n8n/n8n';
import { startProcess } from '../n8n/n8nProcess';
import { callWebhook, isOpen, Owner } from '../n8n/owner';
import { recommendedEnv, type ProcessKind } from '../n8n/queueSettings';
import { startRedis } from '../n8n/redis';
import { deliveriesOf, startSink, type Sink } from '../n8n/sink';
import { videoWorkflow } from '../n8n/videoWorkflows';
import { packInto } from '../support/files/packed';
import { titledVideos } from '../support/data/samples';
import { until, within } from '../support/time/until';
import { shared as single } from './support/shared';

const host = '127.0.0.1';

type Mode = 'single' | 'queue';

interface Case {
	name: string;
	mode: Mode;
	settings: IWorkflowSettings;
	whileWaiting: string;
}

/** Every combination of what n8n saves, of how n8n runs, and of what the execution does while it waits. */
const cases: Case[] = (['single', 'queue'] as const).flatMap((mode) =>
	(['all', 'none'] as const).flatMap((saveDataSuccessExecution) =>
		(['all', 'none'] as const).flatMap((saveDataErrorExecution) =>
			[true, false].flatMap((saveExecutionProgress) =>
				['park', 'hold'].map((whileWaiting) => {
					const settings = {
						saveDataSuccessExecution,
						saveDataErrorExecution,
						saveExecutionProgress,
					};
					const name = [mode, ...Object.values(settings), whileWaiting].join('-');
					return { name, mode, settings, whileWaiting };
				}),
			),
		),
	),
);

/** Seconds in which n8n looks for parked executions twice, on a busy machine. */
const patience = 240;
/** Executions that fail and are retried. */
const count = 3;

/** Three machines, set up as docs/queue-mode.md says: their data folders are separate. */
describe('queue mode', () => {
	const owners = {} as Record<Mode, Owner>;
	const workflows = new Map<Case, IWorkflowBase>();
	let folder: string;
	let guide: string;
	let gateway: Gateway;
	let sink: Sink;
	let webhooks: string;
	const ends: Array<() => Promise<unknown>> = [];

	/** The commands in the first block behind a text of the guide. */
	const commandsOf = (text: string) => {
		const [, rest] = guide.split(text);
		const [, commands] = /```sh\n(.*?)```/s.exec(rest) ?? [];
		if (commands === undefined) throw new Error(`The guide has no commands behind “${text}”`);
		return commands;
	};
	const run = async (commands: string, env: Record<string, string>) => {
		const options = { env: { ...process.env, ...env } };
		const { stdout } = await promisify(execFile)('bash', ['-ec', commands], options);
		return stdout;
	};

	beforeAll(async () => {
		await ensureCommands({ jq: 'jq', curl: 'curl' });
		folder = await mkdtemp(path.join(tmpdir(), 'n8n-guide-'));
		guide = await readFile(path.join(__dirname, '../../docs/queue-mode.md'), 'utf8');
		const { tarball } = packInto(folder);
		const install = commandsOf('**By npm**').replace('n8n-nodes-model-gateway', tarball);
		gateway = await startGateway(titledVideos(5));
		ends.push(async () => await gateway.close());
		sink = await startSink();
		ends.push(async () => await sink.close());
		const redis = await startRedis(path.join(folder, 'redis'));
		ends.push(async () => await redis.stop());
		const database = await startDatabase();
		ends.push(async () => await database.stop());

		const urlOf = (port: number) => `http://${host}:${port}`;
		const [mainPort, webhookPort, healthPort] = [
			await freePort(),
			await freePort(),
			await freePort(),
		];
		webhooks = urlOf(webhookPort);
		const shared = {
			...database.env,
			EXECUTIONS_MODE: 'queue',
			N8N_ENCRYPTION_KEY: 'the-same-everywhere',
			QUEUE_BULL_REDIS_HOST: host,
			QUEUE_BULL_REDIS_PORT: String(redis.port),
			N8N_EDITOR_BASE_URL: urlOf(mainPort),
			WEBHOOK_URL: webhooks,
			N8N_LISTEN_ADDRESS: host,
			N8N_WORKER_SERVER_ADDRESS: host,
			N8N_SECURE_COOKIE: 'false',
		};
		const startMachine = async (
			kind: ProcessKind,
			own: Record<string, string>,
			ready: { url: string; status: number },
		) => {
			const home = path.join(folder, kind);
			await mkdir(home);
			await run(install, { HOME: home });
			const brokerPort = String(await freePort());
			const { end } = await startProcess([kind === 'main' ? 'start' : kind], {
				home,
				logFile: path.join(folder, `${kind}.log`),
				ready,
				env: { ...shared, ...recommendedEnv(kind), N8N_RUNNERS_BROKER_PORT: brokerPort, ...own },
			});
			ends.push(async () => await end('SIGKILL'));
		};
		const main = { url: `${urlOf(mainPort)}/rest/login`, status: 401 };
		await startMachine('main', { N8N_PORT: String(mainPort) }, main);
		await Promise.all([
			startMachine(
				'worker',
				{ QUEUE_HEALTH_CHECK_ACTIVE: 'true', QUEUE_HEALTH_CHECK_PORT: String(healthPort) },
				{ url: `${urlOf(healthPort)}/healthz/readiness`, status: 200 },
			),
			startMachine(
				'webhook',
				{ N8N_PORT: String(webhookPort) },
				{ url: `${webhooks}/healthz`, status: 200 },
			),
		]);
		owners.single = await Owner.of(single);
		owners.queue = await Owner.of({ url: urlOf(mainPort) });
		// They wait while the other tests run, because n8n looks for parked executions once a minute.
		for (const mode of ['single', 'queue'] as const) {
			const credential = await owners[mode].createCredential(gateway);
			// The other test files need an n8n without credentials.
			const removal = `/credentials/${credential.id}`;
			ends.push(async () => await owners[mode].request('DELETE', removal));
			for (const one of cases.filter((each) => each.mode === mode)) {
				const { name, settings, whileWaiting } = one;
				const json = videoWorkflow(
					name,
					{ credential, sinkUrl: sink.url },
					{ settings, whileWaiting },
				);
				workflows.set(one, await owners[mode].createPublished(json));
				await callWebhook(mode === 'single' ? single.url : webhooks, name, { name });
			}
		}
	}, 600_000);

	afterAll(async () => {
		for (const end of ends.reverse()) await end();
		await rm(folder, { recursive: true });
	});

	it('the commands of the guide list the jobs of failed executions, and retry all without another order', async () => {
		const owner = owners.queue;
		const credential = await owner.createCredential(gateway);
		const options = { settings: { saveExecutionProgress: true }, whileWaiting: 'hold' };
		const workflow = await owner.createPublished(
			videoWorkflow('many', { credential, sinkUrl: sink.url }, options),
		);
		const names = Array.from({ length: count }, (_, index) => `failing-${index}`);
		const jobs = () => gateway.jobs.list().filter(({ order }) => names.includes(order.prompt));
		const refused = gateway.fault({
			route: 'video',
			action: 'error',
			status: 401,
			code: 'invalid_api_key',
			times: Infinity,
			when: ({ jobId }) => jobs().some(({ id }) => id === jobId),
		});
		for (const name of names) await callWebhook(webhooks, 'many', { name });
		const statuses = async () => (await owner.executionsOf(workflow)).map(({ status }) => status);
		const haveEnded = async (number: number) => {
			const all = await statuses();
			return all.length === number && !all.some((status) => isOpen({ status }));
		};
		await until(async () => await haveEnded(count));
		expect(await statuses()).toEqual(names.map(() => 'error'));

		const key = { label: 'Operator', expiresAt: null };
		const scopes = ['execution:list', 'execution:read', 'execution:retry'];
		const { rawApiKey: N8N_API_KEY } = await owner.request<{ rawApiKey: string }>(
			...(['POST', '/api-keys', { ...key, scopes }] as const),
		);
		const env = { N8N: owner.url, N8N_API_KEY };
		const listed = await run(commandsOf('**List the job IDs**'), env);
		expect(listed.trim().split('\n').sort()).toEqual(
			jobs()
				.map(({ id }) => id)
				.sort(),
		);

		refused.remove();
		const retry = commandsOf('**Retry** all that failed');
		await run(retry, env);
		await until(async () => await haveEnded(2 * count));
		expect((await statuses()).filter((status) => status === 'success')).toHaveLength(count);
		// All have been retried with success, so another run retries none.
		await run(retry, env);
		expect(await statuses()).toHaveLength(2 * count);
		for (const name of names) {
			expect(chargesOf(gateway, name)).toBe(1);
			expect(deliveriesOf(gateway, sink.deliveries, name)).toBe(1);
		}
	}, 300_000);

	it('every video arrives, whatever n8n saves', async () => {
		const isThere = ({ name }: Case) => deliveriesOf(gateway, sink.deliveries, name) > 0;
		await within(() => cases.every(isThere), patience);
		expect(cases.filter((one) => !isThere(one)).map(({ name }) => name)).toEqual([]);
	}, 300_000);

	it.each(cases)('$name: the video is charged once, and delivered once', ({ name }) => {
		expect(chargesOf(gateway, name)).toBe(1);
		expect(deliveriesOf(gateway, sink.deliveries, name)).toBe(1);
	});

	it.each(cases)('$name: n8n keeps the execution only if the settings say so', async (one) => {
		const workflow = workflows.get(one) as IWorkflowBase;
		const isSaved = one.settings.saveDataSuccessExecution === 'all';
		const statuses = async () =>
			(await owners[one.mode].executionsOf(workflow)).map(({ status }) => status);
		await within(async () => (await statuses()).every((status) => status === 'success'), 30);
		expect(await statuses()).toEqual(isSaved ? ['success'] : []);
	});

	it('logs each event of an execution in the worker', async () => {
		const log = await readFile(path.join(folder, 'worker.log'), 'utf8');
		for (const event of ['order sent', 'order created', 'wait failed', 'video delivered']) {
			expect(log).toContain(`Model Gateway: ${event} executionId=`);
		}
		expect(log).not.toContain(gateway.apiKey);
	});
});
