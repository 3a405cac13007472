import pc from 'picocolors';
import { print, type Figure } from '../report';
import { titledVideos } from '../../support/samples';
import { figuresOf, printFates } from './roundFigures';
import { House, soonNoticed } from './house';
import { playRound, type RoundOptions } from './round';
import { collectWorkflow, storedAfterEachNode, videoWorkflow } from './workflows';

export type Strike = RoundOptions['strike'];

interface RoundsOptions extends Pick<RoundOptions, 'each' | 'held'> {
	/** Settings of n8n. */
	env?: Record<string, string>;
}

/** Plays a round for each strike, in one house, and prints what became of each execution. */
export async function playRounds(
	strikes: Record<string, Strike>,
	{ each, held, env = soonNoticed }: RoundsOptions,
): Promise<Figure[]> {
	const gateway = titledVideos(({ order }) => (order.prompt.includes(' held ') ? Infinity : 1));
	// A worker has room for all, so that every moment is reached at once.
	const options = { gateway, concurrency: 6 * each, env };
	return await House.with(options, async (house) => {
		const keepsRunning = { whileWaiting: 'hold', settings: storedAfterEachNode };
		const workflows = {
			video: await house.publish(videoWorkflow('video', house.places)),
			held: await house.publish(videoWorkflow('held', house.places, keepsRunning)),
			collect: await house.publish(collectWorkflow('collect', house.places)),
		};
		const figures: Figure[] = [];
		for (const [title, strike] of Object.entries(strikes)) {
			print(`\n${pc.bold(title)}`);
			const started = performance.now();
			const report = (line: string) =>
				print(`  ${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}`);
			const round = await playRound(house, workflows, { title, each, held, strike, report });
			printFates(round.fates);
			figures.push(...figuresOf(title, round));
		}
		return figures;
	});
}
