import type { Figure } from '../../report';
import { Deployment } from '../deployment';
import { benchOf, runTrial, timedVideos, type Trial } from './trial';
import { eventLogTrials, rollingRestart, youngWorkers } from './workers';

/** Restarts and failures, each while executions wait for videos. @param chosen part of a title; empty for all */
export async function measureRestarts(chosen: string): Promise<Figure[]> {
	const isChosen = ({ title }: { title: string }) => title.includes(chosen);
	const trials = [...eventLogTrials(20), youngWorkers(17), rollingRestart(36)].filter(isChosen);
	return await playTrials(trials);
}

/** Plays trials one after another in one deployment. */
async function playTrials(trials: Trial[]): Promise<Figure[]> {
	if (trials.length === 0) return [];
	return await Deployment.with({ gateway: timedVideos() }, async (deployment) => {
		const bench = await benchOf(deployment);
		const figures: Figure[] = [];
		for (const trial of trials) figures.push(await runTrial(deployment, bench, trial));
		return figures;
	});
}
