import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { print, printFigures, printSummary, type Figure } from '../bench/report';
import type { Distribution } from './distribution';
import { simulate, type Mode } from './simulation';
import type { Tally } from './tally';

const usage = `Drives the poller of many video jobs in simulated time, and checks that it keeps its promises. One request
in twenty goes wrong. Nothing is sent.

  npm run simulate -- [options]

  --jobs <number>   how many (1000000)
  --hours <number>  over how many hours they begin (24)
  --seed <number>   what the jobs and the faults are drawn from (1)
  --help            this text

The exit code is 1 when a promise is broken.`;

const titles: Record<Mode, string> = {
	hold: 'Keep running: polls as often as recommended',
	park: 'Survive a restart: polls when n8n looks for parked executions, once a minute',
};

function main(): void {
	const { values } = parseArgs({
		options: {
			jobs: { type: 'string', default: '1000000' },
			hours: { type: 'string', default: '24' },
			seed: { type: 'string', default: '1' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	const [jobs, hours, seed] = [values.jobs, values.hours, values.seed].map(Number);
	if (!(jobs >= 1 && hours > 0 && Number.isInteger(jobs) && Number.isInteger(seed))) {
		throw new RangeError('--jobs, --hours and --seed have to be numbers: try --help');
	}

	// An error of the poller is an answer here, which nobody traces.
	Error.stackTraceLimit = 0;
	const begin = performance.now();
	const figures = (['hold', 'park'] as const).flatMap((mode) => {
		const tally = simulate({ jobs, hours, seed, mode });
		print(pc.bold(titles[mode]));
		const figures = figuresOf(tally, jobs);
		printFigures(figures);
		print();
		return figures;
	});
	const seconds = ((performance.now() - begin) / 1000).toFixed(1);
	const { user, system } = process.cpuUsage();
	const work = ((user + system) / 1e6).toFixed(1);
	print(
		`${count(jobs)} jobs, seed ${seed}, waited for twice in ${seconds} s, ${work} s of them at work.`,
	);
	printSummary(figures);
	if (figures.some(({ met }) => met === false)) process.exitCode = 1;
}

function figuresOf(tally: Tally, jobs: number): Figure[] {
	const { outcomes, broken, polls, faultlessPolls, delays, shortestGap, maxAtOnce } = tally;
	const none = (figure: string, number: number): Figure => ({
		...{ figure, value: count(number), goal: 'none', met: number === 0 },
	});
	const counts = {
		jobs,
		finished: outcomes.finished,
		'failed at the service': outcomes.failed,
		'not finished within the timeout': outcomes.timedOut,
		'finished, but their link came too late': outcomes.linkNotFound,
		'waited for at the same time, at most': maxAtOnce,
	};
	return [
		...Object.entries(counts).map(([figure, number]) => ({ figure, value: count(number) })),
		none('jobs lost', broken.jobLost),
		{ figure: 'polls per job: mean, p50, p99', value: spread(polls, 1) },
		{ figure: 'the same without any fault: mean, p50, p99', value: spread(faultlessPolls, 1) },
		{
			figure: 'shortest time between two polls of a job',
			value: `${(shortestGap / 1000).toFixed(1)} s`,
			...{ goal: 'at least 3.0 s', met: broken.pollTooSoon === 0 },
		},
		none('polls after the end was known', broken.pollAfterEnd),
		{ figure: 'noticed after the end: mean, p50, p99', value: `${spread(delays, 1000)} s` },
		{ figure: 'noticed after the end: latest', value: `${(delays.max / 1000).toFixed(1)} s` },
		none('later than an interval and the known delays', broken.noticedTooLate),
	];
}

function spread(values: Distribution, unit: number): string {
	const figures = [values.mean, values.percentile(50), values.percentile(99)];
	return figures.map((value) => (value / unit).toFixed(1)).join(', ');
}

function count(number: number): string {
	return number.toLocaleString('en');
}

main();
