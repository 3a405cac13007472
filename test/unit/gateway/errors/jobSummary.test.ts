import {
	describeProgress,
	describeStatus,
	jobName,
} from '../../../../nodes/shared/gateway/errors/jobSummary';

describe('the name of a job', () => {
	it('names a job by its kind and its ID', () => {
		expect(jobName({ kind: 'task', id: 'task_1' })).toBe('Video task task_1');
		expect(jobName({ kind: 'video', id: 'vid_1' })).toBe('Video job vid_1');
		expect(jobName({ id: 'x' })).toBe('Job x');
	});

	it.each(['\n', '\r\n', '\u001b[2J', '\u0085', '\u2028', '\0'])(
		'keeps the name and the status of a job on one line without control characters: %j',
		(character) => {
			const job = { id: `a${character}b`, status: `RUN${character}NING` };
			for (const text of [jobName(job), describeProgress(job), describeStatus(job)]) {
				expect(text).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
			}
		},
	);
});
