import { none, type Figure } from './report';
import { mean, percentiles } from '../test/support/data/statistics';
import { simulate, type Mode, type Outcome } from '../test/support/time/simulation/simulation';

const names: Record<Mode, string> = { hold: 'kept running', park: 'parked' };

/** Runs the poller for many jobs, in each way of waiting. */
export function measureSimulation(
	{ jobs, hours, seed }: { jobs: number; hours: number; seed: string },
	modes: Mode[],
): Figure[] {
	// Errors of the poller are expected results here, so their stack traces are not needed.
	Error.stackTraceLimit = 0;
	return modes.flatMap((mode) =>
		figuresOf(simulate({ jobs, hours, seed, mode })).map(({ figure, ...rest }) => ({
			...rest,
			figure: `${names[mode]}: ${figure}`,
		})),
	);
}

function figuresOf(outcome: Outcome): Figure[] {
	const { ends, broken, polls, faultlessPolls, delays, shortestGap, maxAtOnce } = outcome;
	const counts = {
		finished: ends.finished,
		'failed at the service': ends.failed,
		'not finished within the timeout': ends.timedOut,
		'finished, but the link came too late': ends.linkNotFound,
		'waited for at the same time, maximum': maxAtOnce,
	};
	const [latest] = percentiles(delays, 100);
	return [
		...Object.entries(counts).map(([figure, count]) => ({
			...{ figure, value: count.toLocaleString('en') },
		})),
		none('jobs lost', broken.jobLost),
		{ figure: 'polls per job: mean, p50, p99', value: summary(polls, 1) },
		{
			figure: 'polls per job without any fault: mean, p50, p99',
			value: summary(faultlessPolls, 1),
		},
		{
			figure: 'shortest time between two polls of a job',
			value: `${(shortestGap / 1000).toFixed(1)} s`,
			...{ goal: 'at least 3.0 s', met: broken.pollTooSoon === 0 },
		},
		none('polls after the end was known', broken.pollAfterEnd),
		{ figure: 'noticed after the end: mean, p50, p99', value: `${summary(delays, 1000)} s` },
		{ figure: 'noticed after the end: latest', value: `${(latest / 1000).toFixed(1)} s` },
		none('later than an interval and the known delays', broken.noticedTooLate),
	];
}

function summary(values: number[], unit: number): string {
	const figures = [mean(values), ...percentiles(values, 50, 99)];
	return figures.map((value) => (value / unit).toFixed(1)).join(', ');
}
