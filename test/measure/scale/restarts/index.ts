import type { Figure } from '../../report';
import { Deployment } from '../deployment';
import { missingPackageTrials } from './missingPackage';
import { measurePostgresRestart, postgresTitle } from './postgres';
import { measureWorkflowSettings, settingsTitle } from './saving';
import { measureSingleProcess, type SingleOptions } from './singleProcess';
import { measureSlowDatabase, slowTitle } from './slowDatabase';
import { benchOf, runTrial, timedVideos, type Trial } from './trial';
import { eventLogTrials, rollingRestart, youngWorkers } from './workers';

const trials = [
	...eventLogTrials(20),
	youngWorkers(17),
	rollingRestart(36),
	...missingPackageTrials(14),
];
const update = '2.41.1';
const singles: SingleOptions[] = [
	{ title: 'One process restarts', isRetried: false },
	{ title: 'One process restarts, Retry at once', isRetried: true },
	{ title: `One process is updated to n8n ${update}`, version: update, isRetried: false },
];

/** Restarts and failures, each while executions wait for videos. @param chosen part of a title; empty for all */
export async function measureRestarts(chosen: string): Promise<Figure[]> {
	const isChosen = ({ title }: { title: string }) => title.includes(chosen);
	const figures = await playTrials(trials.filter(isChosen), isChosen({ title: postgresTitle }));
	if (isChosen({ title: settingsTitle })) figures.push(...(await measureWorkflowSettings()));
	if (isChosen({ title: slowTitle })) figures.push(...(await measureSlowDatabase()));
	for (const single of singles.filter(isChosen)) {
		figures.push(...(await measureSingleProcess(single)));
	}
	return figures;
}

/** Plays trials one after another in one deployment. */
async function playTrials(chosen: Trial[], withPostgres: boolean): Promise<Figure[]> {
	if (chosen.length === 0 && !withPostgres) return [];
	return await Deployment.with({ gateway: timedVideos() }, async (deployment) => {
		const bench = await benchOf(deployment);
		const figures: Figure[] = [];
		for (const trial of chosen) figures.push(await runTrial(deployment, bench, trial));
		if (withPostgres) figures.push(...(await measurePostgresRestart(deployment, bench)));
		return figures;
	});
}
