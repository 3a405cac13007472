import { sampleVideo, withTitle } from '../../test/support/data/samples';
import { jobsOf } from '../../test/n8n/charges';
import { isUnderWay } from '../../test/n8n/owner';
import { fromNowOn, resolveFates } from './aftermath';
import { allNames, bringToMoments, namesAt, type Group, type Workflows } from './arrange';
import type { Deployment } from './deployment';
import type { Fate, Moment } from './fates';

export interface RoundOptions extends Group {
	/** Stops or kills something, calls `release` once that has happened, and starts it again. */
	disrupt(deployment: Deployment, release: () => void): Promise<void>;
	report(line: string): void;
}

export interface Round {
	fates: Array<Fate & { moment: Moment }>;
}

/** Brings executions to each moment at the same time, disrupts n8n, and gets every video: see {@link resolveFates}. */
export async function playRound(
	deployment: Deployment,
	workflows: Workflows,
	options: RoundOptions,
): Promise<Round> {
	const { each, held, disrupt, report } = options;
	const own = await fromNowOn(deployment, [workflows.video, workflows.held]);
	const end = new AbortController();
	await bringToMoments(deployment, options, end.signal);
	report(`${3 * each + held} executions are in creates, passes and downloads`);
	await disrupt(deployment, () => end.abort());
	report('what was stopped runs again');
	await completeHeld(deployment, namesAt('held', options));
	const fates = await resolveFates(deployment, {
		all: allNames(options),
		own,
		report,
		isOver: (executions) => !executions.some(isUnderWay),
	});
	return { fates };
}

/** Finishes the videos of the waits that kept running at the disruption. */
async function completeHeld({ gateway }: Deployment, names: string[]): Promise<void> {
	const video = await sampleVideo();
	for (const name of names) {
		for (const { id } of jobsOf(gateway, name)) {
			gateway.jobs.complete(id, withTitle(video, name));
		}
	}
}
