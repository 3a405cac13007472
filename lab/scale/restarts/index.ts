import type { Figure } from '../../report';
import { Deployment } from '../deployment';
import { missingPackageTrials } from './missingPackage';
import { measurePostgresRestart, postgresTitle } from './postgres';
import { measureWorkflowSettings, settingsTitle } from './saving';
import { measureSingleProcess, type SingleOptions } from './singleProcess';
import { measureSlowDatabase, slowTitle } from './slowDatabase';
import { measureTimeout, timeoutTitle } from './timeout';
import { benchOf, runTrial, timedVideos, type Bench, type Trial } from './trial';
import { eventLogTrials, rollingRestart, youngWorkers } from './workers';

/** Something to measure. */
interface Task {
	title: string;
	run(): Promise<Figure[]>;
}

/** Something to measure in a deployment that it shares with others. */
interface SharedTask {
	title: string;
	run(deployment: Deployment, bench: Bench): Promise<Figure[]>;
}

const ofTrial = (trial: Trial): SharedTask => ({
	title: trial.title,
	run: async (deployment, bench) => [await runTrial(deployment, bench, trial)],
});

const restarts: SharedTask[] = [
	...[...eventLogTrials(20), youngWorkers(17), rollingRestart(36)].map(ofTrial),
	{ title: postgresTitle, run: measurePostgresRestart },
];
const packages = missingPackageTrials(14).map(ofTrial);

const update = '2.41.1';
const singles: SingleOptions[] = [
	{ title: 'One process restarts', isRetried: false },
	{ title: 'One process restarts, Retry at once', isRetried: true },
	{ title: `One process is updated to n8n ${update}`, version: update, isRetried: false },
];
const ofSingles: Task[] = [
	...singles.map((options) => ({
		title: options.title,
		run: async () => await measureSingleProcess(options),
	})),
	{ title: timeoutTitle('One process'), run: measureTimeout },
];

/** Restarts and failures, each while executions wait for videos. @param chosen a pattern of titles; empty for all */
export async function measureRestarts(chosen: string): Promise<Figure[]> {
	// Each process that is started is ended with this one.
	process.setMaxListeners(50);
	const isChosen = ({ title }: { title: string }) => new RegExp(chosen).test(title);
	const inDeployment = async (tasks: SharedTask[]) => await runShared(tasks.filter(isChosen));
	const others: Task[] = [
		{ title: settingsTitle, run: measureWorkflowSettings },
		{ title: slowTitle, run: measureSlowDatabase },
	].filter(isChosen);
	// Most of the time passes while n8n waits: two deployments at a time need no more than two cores.
	const [first, second] = await Promise.all([
		inDeployment(restarts),
		(async () => {
			const figures = await inDeployment(packages);
			for (const { run } of others) figures.push(...(await run()));
			const last = await Promise.all(
				ofSingles.filter(isChosen).map(async ({ run }) => await run()),
			);
			return [...figures, ...last.flat()];
		})(),
	]);
	return [...first, ...second];
}

/** Runs tasks one after another in one deployment. */
async function runShared(tasks: SharedTask[]): Promise<Figure[]> {
	if (tasks.length === 0) return [];
	return await Deployment.with({ gateway: timedVideos() }, async (deployment) => {
		const bench = await benchOf(deployment);
		const figures: Figure[] = [];
		for (const { run } of tasks) figures.push(...(await run(deployment, bench)));
		return figures;
	});
}
