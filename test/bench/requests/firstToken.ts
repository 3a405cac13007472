import type { Figure } from '../report';
import { median, spread } from '../statistics';
import { bareFirstToken } from './bare';
import { chat, runItems, type Target } from './nodes';

const rounds = 25;
const warmups = 5;
/** Milliseconds beyond a bare read. */
const most = 5;

/** Measures how soon the first words of a streamed chat reach whoever watches the workflow. */
export async function benchFirstToken(target: Target): Promise<Figure[]> {
	const ours: number[] = [];
	const bare: number[] = [];
	for (let round = -warmups; round < rounds; round++) {
		const pair = [await engineFirstToken(target), await bareFirstToken(target)];
		if (round < 0) continue;
		ours.push(pair[0]);
		bare.push(pair[1]);
	}
	const more = median(ours) - median(bare);
	return [
		{ figure: 'first token of a streamed chat', value: spread(ours, 'ms', 1) },
		{ figure: '  read by axios alone', value: spread(bare, 'ms', 1) },
		{
			figure: '  first token: more than axios alone',
			value: `${more.toFixed(1)} ms`,
			goal: `at most ${most} ms`,
			met: more <= most,
		},
	];
}

/** In milliseconds from the start of the execution. */
async function engineFirstToken(target: Target): Promise<number> {
	let first: number | undefined;
	const start = performance.now();
	await runItems(chat({ stream: true }), {
		target,
		items: 1,
		onChunk({ type }) {
			if (type === 'item') first ??= performance.now() - start;
		},
	});
	if (first === undefined) throw new Error('Nothing was streamed');
	return first;
}
