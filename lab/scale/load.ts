import { availableParallelism } from 'node:os';
import { forAll, print, type Figure } from '../report';
import { lateness } from '../statistics';
import { titledVideos } from '../../test/support/data/samples';
import { isFinal } from '../../nodes/shared/service/protocol/jobs';
import { until, within } from '../../test/support/time/until';
import { chargesOf } from '../../test/n8n/charges';
import { deliveriesOf } from '../../test/n8n/sink';
import { Deployment } from './deployment';
import { measure, sumOf, type Cpu, type Usage } from './usage';
import { videoWorkflow } from '../../test/n8n/videoWorkflows';
import { chatWorkflow } from './workflows';

interface LoadOptions {
	chats: number;
	parked: number;
	held: number;
}

/** Slots of each worker: n8n's default. */
const slots = 10;
const videoSeconds = 120;
/** Webhook calls under way at a time. */
const callers = 10;

/** Measures chats with one worker and with two, then many parked and held waits at once. */
export async function measureLoad({ chats, parked, held }: LoadOptions): Promise<Figure[]> {
	const gateway = titledVideos(videoSeconds);
	return await Deployment.with({ gateway, workers: 1, concurrency: slots }, async (deployment) => [
		...(await compareWorkers(deployment, chats)),
		...(await waitForMany(deployment, { parked, held })),
	]);
}

interface Run {
	perSecond: number;
	usage: Usage;
}

/** Chats, by how long the service takes for each. */
const workloads: Array<{ milliseconds: number; share: number }> = [
	{ milliseconds: 500, share: 1 },
	{ milliseconds: 2000, share: 0.3 },
	{ milliseconds: 0, share: 1 },
];

async function compareWorkers(deployment: Deployment, chats: number): Promise<Figure[]> {
	const runs = workloads.map(() => ({}) as Record<'one' | 'two', Run>);
	let count = 0;
	const chat = async (executions: number) =>
		await runChats(deployment, `chat-${count++}`, executions);
	for (const workers of ['one', 'two'] as const) {
		if (workers === 'two') await deployment.startWorker();
		await chat(50);
		for (const [index, { milliseconds, share }] of workloads.entries()) {
			const stall = deployment.gateway.fault({
				route: 'chat',
				action: 'stall',
				seconds: milliseconds / 1000,
				times: Infinity,
			});
			const run = await chat(Math.ceil(chats * share));
			stall.remove();
			runs[index][workers] = run;
			print(
				`  workers: ${workers}, chats of ${milliseconds} ms: ${run.perSecond.toFixed(1)} executions/s`,
			);
		}
	}
	await deployment.running[1].end('SIGTERM');
	return workloads.flatMap(({ milliseconds, share }, index) =>
		workerFigures(milliseconds, Math.ceil(chats * share), runs[index]),
	);
}

function workerFigures(
	milliseconds: number,
	chats: number,
	{ one, two }: Record<'one' | 'two', Run>,
): Figure[] {
	const title = `${chats} chats ${milliseconds > 0 ? `of ${milliseconds} ms` : 'without a delay'}`;
	const times = two.perSecond / one.perSecond;
	const cores = availableParallelism();
	const share = (run: Run) => (run.usage.busy * cores).toFixed(1);
	const cpu = (...names: Array<keyof Cpu>) =>
		names.map((name) => ((two.usage.cpu[name] / chats) * 1000).toFixed(1)).join(', ');
	return [
		{ figure: `${title}, one worker`, value: `${one.perSecond.toFixed(1)} executions/s` },
		{ figure: `${title}, two workers`, value: `${two.perSecond.toFixed(1)} executions/s` },
		{
			figure: `${title}: rate of two workers / one`,
			value: times.toFixed(2),
			// If every core is busy, a second worker has nothing to run on.
			...(milliseconds > 0 && {
				goal: 'at least 1.8, or no core free',
				met: times >= 1.8 || two.usage.busy >= 0.95,
			}),
		},
		{
			figure: '  cores in use, with one worker and with two',
			value: `${share(one)} and ${share(two)} of ${cores}`,
		},
		{
			figure: '  CPU per execution: main, webhook, workers',
			value: `${cpu('main', 'webhook', 'workers')} ms`,
		},
		{ figure: '  CPU per execution: PostgreSQL, Redis', value: `${cpu('postgres', 'redis')} ms` },
	];
}

/** Measures from the first call to the end of the last execution. */
async function runChats(deployment: Deployment, path: string, executions: number): Promise<Run> {
	const workflow = await deployment.publish(chatWorkflow(path, deployment.environment));
	const usage = await measure(deployment, async () => {
		await callAll(
			deployment,
			path,
			Array.from({ length: executions }, (_, index) => String(index)),
		);
		await until(
			async () => ((await deployment.statuses(workflow)).success ?? 0) === executions,
			300,
		);
	});
	const [[seconds]] = await deployment.database.query(
		`SELECT extract(epoch FROM max("stoppedAt") - min("createdAt")) FROM execution_entity WHERE "workflowId" = '${workflow.id}'`,
	);
	return { perSecond: executions / Number(seconds), usage };
}

export async function callAll(
	deployment: Deployment,
	path: string,
	names: string[],
): Promise<void> {
	const left = [...names];
	const caller = async () => {
		for (let name = left.shift(); name !== undefined; name = left.shift()) {
			await deployment.call(path, { name });
		}
	};
	await Promise.all(Array.from({ length: callers }, caller));
}

async function waitForMany(
	deployment: Deployment,
	{ parked, held }: Pick<LoadOptions, 'parked' | 'held'>,
): Promise<Figure[]> {
	const { gateway, sink } = deployment;
	// Each held wait occupies a slot.
	const concurrency = Math.ceil(held / 2) + slots;
	await deployment.running[0].end('SIGTERM');
	await Promise.all([1, 2].map(async () => await deployment.startWorker({ concurrency })));
	const ends = new Map<string, number>();
	gateway.on(
		'job',
		({ order, phase }) => void (isFinal(phase) && ends.set(order.prompt, Date.now())),
	);
	const kinds = { parked, held };
	const names = Object.fromEntries(
		Object.entries(kinds).map(([kind, count]) => [
			kind,
			Array.from({ length: count }, (_, index) => `${kind} ${index}`),
		]),
	);
	for (const [kind, whileWaiting] of [
		['parked', 'auto'],
		['held', 'hold'],
	] as const) {
		await deployment.publish(videoWorkflow(kind, deployment.environment, { whileWaiting }));
	}
	const all = Object.values(names).flat();
	const usage = await measure(deployment, async () => {
		await callAll(deployment, 'held', names.held);
		await callAll(deployment, 'parked', names.parked);
		await within(() => sink.deliveries.length >= all.length, videoSeconds + 300);
	});
	const charges = all.map((name) => chargesOf(gateway, name));
	const deliveries = all.map((name) => deliveriesOf(gateway, sink.deliveries, name));
	const once = (counts: number[]) => counts.filter((number) => number === 1).length;
	const delays = (kind: string) =>
		sink.deliveries
			.filter(({ name }) => name.startsWith(kind))
			.map(({ name, at }) => (at - (ends.get(name) ?? NaN)) / 1000);
	const title = `${parked} parked and ${held} held waits`;
	return [
		forAll(`${title}: delivered once`, once(deliveries), all.length),
		forAll(`${title}: charged once`, once(charges), all.length),
		{
			figure: `${title}: CPU of n8n, PostgreSQL and Redis`,
			value: `${sumOf(usage.cpu).toFixed(0)} s in ${usage.seconds.toFixed(0)} s`,
		},
		...Object.keys(kinds).map((kind) => ({
			figure: `${title}: ${kind}, from the end of a video to the next node`,
			value: lateness(delays(kind)),
		})),
	];
}
