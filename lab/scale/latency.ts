import { setTimeout } from 'node:timers/promises';
import { print, type Figure } from '../report';
import { sampleVideo, withTitle } from '../../test/support/data/samples';
import { until } from '../../test/support/time/until';
import { lateness } from '../statistics';
import { Deployment } from './deployment';
import { callAll } from './load';
import { measure, sumOf, type Cpu, type Usage } from './usage';
import { videoWorkflow } from '../../test/n8n/videoWorkflows';

/** Seconds between two checks of n8n for parked executions. */
const checkSeconds = 60;
/** Seconds in which only passes are measured. */
const window = 2 * checkSeconds;

interface Group {
	parked: number;
	/** Seconds from the end of a video to the next node. */
	delays: number[];
	passes: number;
	usage: Usage;
	/** Growth of the database for one execution, from its start to its end, without the file. */
	bytesEach: number;
}

/** Measures what parked executions cost, and how late their videos are noticed, by their number. */
export async function measureParkedLatency(counts: number[]): Promise<Figure[]> {
	const gateway = { jobSeconds: Infinity };
	return await Deployment.with({ gateway }, async (deployment) => {
		await setTimeout(10_000);
		const idle = await measure(deployment, async () => await setTimeout(20_000));
		const groups: Group[] = [];
		for (const parked of counts) {
			groups.push(await watch(deployment, parked));
			print(`  ${parked} parked: ${lateness(groups.at(-1)?.delays ?? [])}`);
		}
		return figuresOf(groups, idle);
	});
}

async function watch(deployment: Deployment, parked: number): Promise<Group> {
	const { gateway, sink, database } = deployment;
	const path = `parked-${parked}`;
	const names = Array.from({ length: parked }, (_, index) => `${path} ${index}`);
	const workflow = await deployment.publish(videoWorkflow(path, deployment.environment));
	const size = async () =>
		Number((await database.query('SELECT pg_database_size(current_database())'))[0][0]);
	const before = await size();
	await callAll(deployment, path, names);
	const polls = () => gateway.requests.filter(({ route }) => route === 'video').length;
	const begun = polls();
	// From the first check on, all passes come at the same time.
	await until(() => polls() >= begun + parked, 150);
	const first = polls();
	const usage = await measure(deployment, async () => await setTimeout(window * 1000));
	const passes = polls() - first;

	const video = await sampleVideo();
	const ends = new Map<string, number>();
	for (const name of names) {
		const job = gateway.jobs.list().find(({ order }) => order.prompt === name);
		if (!job) throw new Error(`${name} was never ordered`);
		gateway.jobs.complete(job.id, withTitle(video, name));
		ends.set(name, Date.now());
		await setTimeout((checkSeconds / parked) * 1000);
	}
	await until(async () => ((await deployment.statuses(workflow)).success ?? 0) === parked, 300);
	const delays = sink.deliveries
		.filter(({ name }) => ends.has(name))
		.map(({ name, at }) => (at - (ends.get(name) ?? NaN)) / 1000);
	const bytesEach = ((await size()) - before) / parked - video.length;
	return { parked, delays, passes, usage, bytesEach };
}

function figuresOf(groups: Group[], idle: Usage): Figure[] {
	const idleEach = sumOf(idle.cpu) / idle.seconds;
	/** CPU of a pass in milliseconds, without what n8n uses when it is idle. */
	const work = ({ usage, passes }: Group, name: keyof Cpu) => {
		const own = usage.cpu[name] - (idle.cpu[name] / idle.seconds) * usage.seconds;
		return ((Math.max(0, own) / passes) * 1000).toFixed(0);
	};
	return [
		{
			figure: 'CPU of n8n, PostgreSQL and Redis at rest',
			value: `${(idleEach * 100).toFixed(1)} % of a core`,
		},
		...groups.flatMap((group): Figure[] => {
			const { parked, delays, passes, usage, bytesEach } = group;
			const parts = (['main', 'workers', 'postgres'] as const).map((name) => work(group, name));
			const log = usage.walBytes / passes / 1024;
			return [
				{
					figure: `${parked} parked: from the end of a video to the next node`,
					value: lateness(delays),
				},
				{
					figure: `${parked} parked: CPU per pass (main process, workers, PostgreSQL)`,
					value: `${parts.join(', ')} ms`,
				},
				{
					figure: `${parked} parked: written by PostgreSQL per pass`,
					value: `${log.toFixed(1)} kB`,
				},
				{
					figure: `${parked} parked: growth of the database per video, without its file`,
					value: `${(bytesEach / 1024).toFixed(0)} kB`,
				},
			];
		}),
	];
}
