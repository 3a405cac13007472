import { setTimeout } from 'node:timers/promises';
import { print, type Figure } from '../report';
import { sampleVideo, withTitle } from '../../support/samples';
import { until } from '../../support/until';
import { lateness } from '../../support/statistics';
import { House } from './house';
import { callAll } from './load';
import { measure, sumOf, type Cpu, type Usage } from './usage';
import { videoWorkflow } from './workflows';

/** Between two looks of n8n for parked executions, in seconds. */
const look = 60;
/** How long nothing but passes is measured. */
const window = 2 * look;

interface Crowd {
	parked: number;
	/** From the end of a video until the next node had it, in seconds. */
	delays: number[];
	passes: number;
	usage: Usage;
	/** What the database has grown by for one execution, from its start to its end, without the file. */
	bytesEach: number;
}

/** What parked executions cost, and how late their videos are noticed, by how many they are. */
export async function measureParkedLatency(counts: number[]): Promise<Figure[]> {
	const gateway = { jobSeconds: Infinity };
	return await House.with({ gateway }, async (house) => {
		await setTimeout(10_000);
		const idle = await measure(house, async () => await setTimeout(20_000));
		const crowds: Crowd[] = [];
		for (const parked of counts) {
			crowds.push(await watch(house, parked));
			print(`  ${parked} parked: ${lateness(crowds.at(-1)?.delays ?? [])}`);
		}
		return figuresOf(crowds, idle);
	});
}

async function watch(house: House, parked: number): Promise<Crowd> {
	const { gateway, sink, database } = house;
	const path = `crowd-${parked}`;
	const names = Array.from({ length: parked }, (_, index) => `${path} ${index}`);
	const workflow = await house.publish(videoWorkflow(path, house.places));
	const size = async () =>
		Number((await database.query('SELECT pg_database_size(current_database())'))[0][0]);
	const before = await size();
	await callAll(house, path, names);
	const polls = () => gateway.requests.filter(({ route }) => route === 'video').length;
	const begun = polls();
	// From the first look on, all are in step.
	await until(() => polls() >= begun + parked, 150);
	const first = polls();
	const usage = await measure(house, async () => await setTimeout(window * 1000));
	const passes = polls() - first;

	const video = await sampleVideo();
	const ends = new Map<string, number>();
	for (const name of names) {
		const job = gateway.jobs.list().find(({ order }) => order.prompt === name);
		if (!job) throw new Error(`${name} was never ordered`);
		gateway.jobs.complete(job.id, withTitle(video, name));
		ends.set(name, Date.now());
		await setTimeout((look / parked) * 1000);
	}
	await until(async () => ((await house.statuses(workflow)).success ?? 0) === parked, 300);
	const delays = sink.deliveries
		.filter(({ name }) => ends.has(name))
		.map(({ name, at }) => (at - (ends.get(name) ?? NaN)) / 1000);
	const bytesEach = ((await size()) - before) / parked - video.length;
	return { parked, delays, passes, usage, bytesEach };
}

function figuresOf(crowds: Crowd[], idle: Usage): Figure[] {
	const idleEach = sumOf(idle.cpu) / idle.seconds;
	/** Of a pass, in milliseconds, without what n8n takes when it has nothing to do. */
	const work = ({ usage, passes }: Crowd, name: keyof Cpu) => {
		const own = usage.cpu[name] - (idle.cpu[name] / idle.seconds) * usage.seconds;
		return ((Math.max(0, own) / passes) * 1000).toFixed(0);
	};
	return [
		{
			figure: 'CPU of n8n, PostgreSQL and Redis at rest',
			value: `${(idleEach * 100).toFixed(1)} % of a core`,
		},
		...crowds.flatMap((crowd): Figure[] => {
			const { parked, delays, passes, usage, bytesEach } = crowd;
			const parts = (['main', 'workers', 'postgres'] as const).map((name) => work(crowd, name));
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
