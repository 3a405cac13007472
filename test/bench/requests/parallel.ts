import type { Figure } from '../report';
import { median } from '../statistics';
import { chat, runItems, type Target } from './nodes';
import { delays } from './service';

const items = 50;
const secondsEach = delays.parallel.answerMilliseconds / 1000;
/** What the node offers when its user sets nothing. */
const standard = 10;
/** Of the time that so many requests in flight allow. */
const most = 1.25;
const leastGain = 20;

/** Measures how well requests in flight are kept up, and what that gains. */
export async function benchParallel(target: Target): Promise<Figure[]> {
	await runItems(chat(), { target, items: 1 });
	const medianOf = async (parallelRequests: number, rounds: number) => {
		const seconds: number[] = [];
		for (let round = 0; round < rounds; round++) {
			seconds.push(await runItems(chat({ parallelRequests }), { target, items }));
		}
		return median(seconds);
	};
	const byDefault = await medianOf(standard, 3);
	const atOnce = await medianOf(items, 3);
	const oneByOne = await medianOf(1, 1);

	const possible = Math.ceil(items / standard) * secondsEach;
	return [
		{
			figure: `${items} chats of ${secondsEach} s, ${standard} in flight (default)`,
			value: `${byDefault.toFixed(2)} s (possible: ${possible.toFixed(2)} s)`,
			goal: `at most ${(most * possible).toFixed(2)} s`,
			met: byDefault <= most * possible,
		},
		{
			figure: `${items} chats, ${items} in flight / one after another`,
			value: `${atOnce.toFixed(2)} / ${oneByOne.toFixed(2)} s = ${(oneByOne / atOnce).toFixed(1)} times`,
			goal: `at least ${leastGain} times`,
			met: oneByOne >= leastGain * atOnce,
		},
	];
}
