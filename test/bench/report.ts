import pc from 'picocolors';

/** One line of the report. */
export interface Figure {
	figure: string;
	value: string;
	/** Left out where there is nothing to reach, only something to compare with. */
	goal?: string;
	met?: boolean;
}

const widths = { figure: 50, value: 27, goal: 23 };

export function print(text = ''): void {
	process.stdout.write(`${text}\n`);
}

/** Prints figures in columns that stay the same for the whole report. */
export function printFigures(figures: Figure[]): void {
	print(pc.dim(columns({ figure: 'figure', value: 'value', goal: 'goal' }, 'met')));
	for (const figure of figures) print(columns(figure, verdict(figure)));
}

function columns({ figure, value, goal = '' }: Figure, last: string): string {
	const cells = [
		figure.padEnd(widths.figure),
		value.padEnd(widths.value),
		goal.padEnd(widths.goal),
		last,
	];
	return `  ${cells.join('  ')}`.trimEnd();
}

function verdict({ met }: Figure): string {
	if (met === undefined) return '';
	return met ? pc.green('yes') : pc.red('MISSED');
}

/** Says in one line how the figures with a goal came out. */
export function printSummary(figures: Figure[]): void {
	const goals = figures.filter(({ met }) => met !== undefined);
	const missed = goals.filter(({ met }) => !met);
	print(
		missed.length === 0
			? `${pc.green('All goals met')}: ${goals.length} of ${goals.length}.`
			: `${pc.red('MISSED')} ${missed.length} of ${goals.length} goals: ${missed.map(({ figure }) => figure).join('; ')}.`,
	);
}
