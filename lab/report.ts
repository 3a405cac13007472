import pc from 'picocolors';
import { aligned } from '../test/support/pages/markdown';

/** One line in the table of results. */
export interface Figure {
	figure: string;
	value: string;
	/** Missing if the figure is only for comparison. */
	goal?: string;
	met?: boolean;
}

export function print(text = ''): void {
	process.stdout.write(`${text}\n`);
}

/** @param rows the first is the header */
export function printTable(rows: string[][]): void {
	print(`\n${aligned(rows)}\n`);
}

export function printFigures(figures: Figure[]): void {
	printTable([
		['figure', 'value', 'goal', 'met'],
		...figures.map(({ figure, value, goal = '', met }) => [
			figure,
			value,
			goal,
			met === undefined ? '' : met ? 'yes' : 'MISSED',
		]),
	]);
}

/** Prints one line about the figures with a goal. @returns those that missed their goal */
export function printSummary(figures: Figure[]): Figure[] {
	const goals = figures.filter(({ met }) => met !== undefined);
	const missed = goals.filter(({ met }) => !met);
	if (missed.length > 0) {
		const named = missed.map(({ figure }) => figure.trim()).join('; ');
		print(`${pc.red('MISSED')} ${missed.length} of ${goals.length} goals: ${named}.`);
	} else if (goals.length > 0) {
		print(`${pc.green('All goals met')}: ${goals.length} of ${goals.length}.`);
	}
	return missed;
}

interface Shown {
	unit?: string;
	digits?: number;
	/** Shown instead of the measured number. */
	value?: string;
}

export function atMost(figure: string, measured: number, max: number, shown: Shown = {}): Figure {
	const goal = `at most ${withUnit(max, shown)}`;
	return { figure, value: valueOf(measured, shown), goal, met: measured <= max };
}

export function atLeast(figure: string, measured: number, min: number, shown: Shown = {}): Figure {
	const goal = `at least ${withUnit(min, shown)}`;
	return { figure, value: valueOf(measured, shown), goal, met: measured >= min };
}

/** A figure whose goal is 0. */
export const none = (
	figure: string,
	count: number,
	value = count.toLocaleString('en'),
): Figure => ({ figure, value, goal: '0', met: count === 0 });

/** A figure whose goal is that all meet it. */
export const forAll = (figure: string, count: number, all: number): Figure => ({
	figure,
	value: `${count} of ${all}`,
	goal: 'all',
	met: count === all,
});

const valueOf = (measured: number, { digits = 0, value, ...shown }: Shown): string =>
	value ?? withUnit(measured.toFixed(digits), shown);

const withUnit = (value: number | string, { unit }: Shown): string =>
	unit === undefined ? String(value) : `${value} ${unit}`;
