import { jobFailureReason } from '../../../../nodes/shared/gateway/errors/jobFailure';
import { unlessEndless } from '../../../support/data/endless';

describe('the reason why a job failed', () => {
	it('is none in a text instead of a job', () => {
		expect(jobFailureReason('failed')).toEqual({});
	});

	it('compares only the beginnings of reasons that repeat themselves', () => {
		const part = 'a'.repeat(2_000_000);
		const job = { status: 'failed', message: part.repeat(4), detail: `${part}b${part}` };
		expect(unlessEndless(() => jobFailureReason(job))).toEqual({ message: 'a'.repeat(2_000) });
	});
});
