import { mean } from '../../../support/data/statistics';
import { simulate, type Mode } from '../../../support/time/simulation/simulation';

describe.each<Mode>(['hold', 'park'])('2,000 simulated jobs in mode %s', (mode) => {
	const jobs = 2000;
	const settings = { jobs, mode, seed: '1' };

	it('polls no job too often, notices every end in time and loses no job', () => {
		const { ends, broken } = simulate(settings);
		expect(broken).toEqual({ pollTooSoon: 0, pollAfterEnd: 0, noticedTooLate: 0, jobLost: 0 });
		const { finished, failed, timedOut, linkNotFound } = ends;
		expect(finished + failed + timedOut + linkNotFound).toBe(jobs);
		for (const count of [finished, failed, timedOut]) expect(count).toBeGreaterThan(10);
	});

	it('polls the jobs no more often than needed when nothing fails', () => {
		const { ends, polls, faultlessPolls } = simulate({ ...settings, badShare: 0 });
		expect(ends.linkNotFound).toBe(0);
		// The 0.2 allows for jobs that are polled as the wrong kind first or have no link at once.
		expect(mean(polls)).toBeLessThan(mean(faultlessPolls) + 0.2);
	});
});
