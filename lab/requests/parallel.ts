import { atLeast, atMost, type Figure } from '../report';
import { median } from '../statistics';
import { chat, runItems, type Target } from './nodes';
import { delays } from './service';

const items = 50;
const secondsEach = delays.parallel.answerMilliseconds / 1000;
/** The node's default. */
const defaultParallel = 10;
/** Relative to the time that this many requests in flight allow. */
const maxRatio = 1.25;
const minGain = 20;

/** Measures how well the node keeps its requests in flight, and what that gains. */
export async function measureParallel(target: Target): Promise<Figure[]> {
	await runItems(chat(), { target, items: 1 });
	const medianOf = async (parallelRequests: number, rounds: number) => {
		const seconds: number[] = [];
		for (let round = 0; round < rounds; round++) {
			seconds.push(await runItems(chat({ parallelRequests }), { target, items }));
		}
		return median(seconds);
	};
	const byDefault = await medianOf(defaultParallel, 3);
	const atOnce = await medianOf(items, 3);
	const oneByOne = await medianOf(1, 1);

	const possible = Math.ceil(items / defaultParallel) * secondsEach;
	const gain = oneByOne / atOnce;
	return [
		atMost(
			`${items} chats of ${secondsEach} s, ${defaultParallel} in flight (default)`,
			byDefault,
			maxRatio * possible,
			{ unit: 's', value: `${byDefault.toFixed(2)} s (possible: ${possible.toFixed(2)} s)` },
		),
		atLeast(`${items} chats, ${items} in flight / one after another`, gain, minGain, {
			unit: 'times',
			value: `${atOnce.toFixed(2)} / ${oneByOne.toFixed(2)} s = ${gain.toFixed(1)} times`,
		}),
	];
}
