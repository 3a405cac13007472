import type { JobKind } from '../../nodes/shared/service/protocol/jobs';
import type { Random } from '../../gateway/random';

/** One video order. From its prompt, the service knows how long it takes, and which sample it gives. */
export interface Order {
	number: number;
	kind: JobKind;
	seconds: number;
}

export const promptOf = ({ number, seconds }: Order): string =>
	`Soak ${number}, ready in ${seconds} s`;

export function orderOf(prompt: string): Pick<Order, 'number' | 'seconds'> {
	const [number, seconds] = (/^Soak (\d+), ready in (\d+) s$/.exec(prompt) ?? [])
		.slice(1)
		.map(Number);
	if (seconds === undefined) throw new Error(`Nobody ordered "${prompt}"`);
	return { number, seconds };
}

export const sampleOf = <T>(samples: T[], number: number): T => samples[number % samples.length];

/** In seconds. */
const shortestJob = 3;
const longestJob = 240;
/** No new jobs in these seconds before the end. */
export const lastCall = 20;

/** One wait has half of the jobs, another one half of the rest, and so on: large and small waits run together. */
export function laneSizes(jobs: number): number[] {
	const sizes: number[] = [];
	for (let left = jobs; left > 0; left -= sizes[sizes.length - 1]) {
		sizes.push(left > 10 ? Math.ceil(left / 2) : left);
	}
	return sizes;
}

/** Jobs of both kinds that take about equally long: seconds, minutes, or all the time left. */
export function drawOrders(
	count: number,
	{ random, left, first }: { random: Random; left: number; first: number },
): Order[] {
	const max = Math.min(longestJob, left - lastCall / 2);
	const longest = shortestJob * (max / shortestJob) ** random();
	return Array.from({ length: count }, (_, index) => ({
		number: first + index,
		kind: random() < 0.5 ? 'task' : 'video',
		seconds: Math.round(longest * (0.5 + random() / 2)),
	}));
}
