import type { Figure } from '../report';
import { median } from '../statistics';
import type { Measured } from './measure';
import type { Row } from './rounds';

/** The median of a row. */
export const middle = ({ runs }: Row, of: (run: Measured) => number): number =>
	median(runs.map(of));

/** How many times as long the first took, by the medians. */
export const ratio = (one: Row, other: Row): number =>
	middle(one, ({ seconds }) => seconds) / middle(other, ({ seconds }) => seconds);

export function atLeast(goal: number, times: number, figure: string): Figure {
	const value = `${times.toFixed(1)} times`;
	return { figure, value, goal: `at least ${goal} times`, met: times >= goal };
}

export function atMost(goal: number, times: number, figure: string): Figure {
	return { figure, value: times.toFixed(2), goal: `at most ${goal}`, met: times <= goal };
}

/** Of the growth of memory. @param goal in megabytes */
export function growthAtMost(goal: number, row: Row, figure: string): Figure {
	const megabytes = middle(row, ({ growth }) => growth) / 1e6;
	const value = `${megabytes.toFixed(0)} MB`;
	return { figure, value, goal: `at most ${goal} MB`, met: megabytes <= goal };
}
