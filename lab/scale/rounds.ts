import pc from 'picocolors';
import { print, type Figure } from '../report';
import { titledVideos } from '../../test/support/data/samples';
import { figuresOf, printFates } from './roundFigures';
import { Deployment } from './deployment';
import { playRound, type RoundOptions } from './round';
import { videoWorkflow } from '../../test/n8n/videoWorkflows';
import { collectWorkflow, storedAfterEachNode } from './workflows';

export type Disruption = RoundOptions['disrupt'];

/** Plays a round for each disruption, in one deployment, and prints the outcome of each execution. */
export async function playRounds(
	disruptions: Record<string, Disruption>,
	{ each, held }: Pick<RoundOptions, 'each' | 'held'>,
): Promise<Figure[]> {
	const gateway = titledVideos(({ order }) => (order.prompt.includes(' held ') ? Infinity : 1));
	// A worker has slots for all, so that every moment is reached at once.
	const options = { gateway, concurrency: 6 * each };
	return await Deployment.with(options, async (deployment) => {
		const keepsRunning = { whileWaiting: 'hold', settings: storedAfterEachNode };
		const workflows = {
			video: await deployment.publish(videoWorkflow('video', deployment.environment)),
			held: await deployment.publish(videoWorkflow('held', deployment.environment, keepsRunning)),
			collect: await deployment.publish(collectWorkflow('collect', deployment.environment)),
		};
		const figures: Figure[] = [];
		for (const [title, disrupt] of Object.entries(disruptions)) {
			print(`\n${pc.bold(title)}`);
			const started = performance.now();
			const report = (line: string) =>
				print(`  ${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`);
			const round = await playRound(deployment, workflows, { title, each, held, disrupt, report });
			printFates(round.fates);
			figures.push(...figuresOf(title, round));
		}
		return figures;
	});
}
