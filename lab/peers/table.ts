import { aligned } from '../../test/support/pages/markdown';
import { median, spread } from '../statistics';
import type { Measured } from './measure';
import { ratio, type Row } from './rounds';

const head = [
	'',
	'Time',
	'Time / ours',
	'CPU of n8n',
	'Growth of memory',
	'Requests',
	'Polls',
	'Max at once',
];

/** The figures of all ways: medians, with minimum and maximum after several rounds. The first row is ours. */
export function tableOf(rows: Row[]): string {
	return aligned([head, ...rows.map((row) => cells(row, rows[0]))]);
}

function cells(row: Row, ours: Row): string[] {
	const of = (value: (run: Measured) => number) => row.runs.map(value);
	const count = (value: (run: Measured) => number) => median(of(value)).toLocaleString('en');
	return [
		row.way,
		spread(
			of((run) => run.seconds),
			's',
			2,
		),
		ratio(row, ours).toFixed(row === ours ? 0 : 1),
		spread(
			of((run) => run.cpuSeconds),
			's',
			2,
		),
		spread(
			of((run) => run.growth / 1e6),
			'MB',
		),
		count(({ requests }) => requests),
		count(({ polls }) => polls),
		count(({ maxAtOnce }) => maxAtOnce),
	];
}
