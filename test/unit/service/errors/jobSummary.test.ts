import {
	describeProgress,
	describeStatus,
	jobName,
} from '../../../../nodes/shared/service/errors/jobSummary';

describe('the name of a job', () => {
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
