import type { Route } from '../../../gateway';
import { resumeExecution, resumeToEnd, type WorkflowRun } from '../../harness';
import { startWaits } from '../../support/workflows/parkedWaits';
import { mp4Of } from '../../support/files/boxes';
import { earlierJob, earlierTasks } from '../../support/workflows/earlierJobs';
import { withGateway } from '../../support/http/withGateway';
import { chain, waitForVideo } from '../../support/workflows/workflows';

const hour = 3_600_000;
const step = (milliseconds: number) => jest.setSystemTime(Date.now() + milliseconds);

describe("a wait while n8n's clock is set", () => {
	/** When each poll arrived, in milliseconds of a clock that nobody sets. */
	let polls: number[];

	const { gateway } = withGateway({ isTimeSimulated: true, jobSeconds: Infinity });
	beforeEach(() => void (polls = []));

	/** Does something at each poll, with the number of polls so far. */
	const atPolls = (act: (count: number) => void, route: Route = 'task') => {
		const when = () => {
			act(polls.push(performance.now()));
			return false;
		};
		gateway.fault({ route, action: 'reset', times: Infinity, when });
	};
	const start = async (whileWaiting: 'hold' | 'park', jobs = earlierTasks(gateway, 1)) =>
		await startWaits(
			gateway,
			chain(waitForVideo({ whileWaiting, options: { timeoutMinutes: 5 } })),
			jobs,
		);
	const timedOut = expect.stringContaining('did not finish within 5 minutes');

	it.each([-hour, hour])(
		'polls on until its Timeout: %i ms during a poll',
		async (milliseconds) => {
			atPolls((count) => count === 2 && step(milliseconds));
			const run = await resumeToEnd(await start('hold'));
			expect(run.errorOf('Wait for Video')?.message).toEqual(timedOut);
			const gaps = polls.slice(1).map((at, index) => Math.round((at - polls[index]) / 1000));
			expect(gaps).toEqual(Array.from({ length: 30 }, () => 10));
		},
	);

	it.each([-hour, hour])('downloads to the end: %i ms before a byte', async (milliseconds) => {
		atPolls(() => step(milliseconds), 'download');
		const jobs = [earlierJob(gateway, 'task', mp4Of(5_000))];
		const run = await resumeToEnd(await start('hold', jobs));
		expect(run.items('Wait for Video')[0].binary).toBeDefined();
	});

	/** Runs the passes of a parked wait as n8n does: a minute apart at most, by the timer that it has set. */
	const passes = async (run: WorkflowRun, between: (pass: number) => void) => {
		let count = 0;
		for (; run.status === 'waiting' && count < 20; count++) {
			const left = Number(run.waitTill) - Date.now();
			expect(left).toBeLessThanOrEqual(10_000);
			await new Promise((resolve) => void setTimeout(resolve, Math.max(left, 60_000)));
			between(count);
			run = await resumeExecution(run);
		}
		expect(run.errorOf('Wait for Video')?.message).toEqual(timedOut);
		return count;
	};

	it.each([-hour, hour])('parks until its Timeout: %i ms during a poll', async (milliseconds) => {
		atPolls((count) => count === 2 && step(milliseconds));
		expect(await passes(await start('park'), () => undefined)).toBe(5);
		expect(polls).toHaveLength(5);
	});

	it.each([-hour, hour])('parks until its Timeout: %i ms while parked', async (milliseconds) => {
		const count = await passes(await start('park'), (pass) => pass === 2 && step(milliseconds));
		expect(count).toBeGreaterThanOrEqual(5);
		expect(count).toBeLessThanOrEqual(6);
	});
});
