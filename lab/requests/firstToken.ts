import { atMost, type Figure } from '../report';
import { inTurns, median, spread } from '../statistics';
import { bareFirstToken } from './bare';
import { chat, runItems, type Target } from './nodes';

/** In milliseconds, compared with axios alone. */
const maxDelay = 5;

/** Measures how soon the first words of a streamed chat reach the viewer of the workflow. */
export async function measureFirstToken(target: Target): Promise<Figure[]> {
	const { ours, bare } = await inTurns(
		{
			ours: async () => await engineFirstToken(target),
			bare: async () => await bareFirstToken(target),
		},
		{ rounds: 25, warmUps: 5 },
	);
	const delay = median(ours) - median(bare);
	return [
		{ figure: 'first token of a streamed chat', value: spread(ours, 'ms', 1) },
		{ figure: '  read by axios alone', value: spread(bare, 'ms', 1) },
		atMost('  first token: later than with axios alone', delay, maxDelay, {
			unit: 'ms',
			digits: 1,
		}),
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
