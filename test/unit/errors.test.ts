import { badInput } from '../../nodes/shared/gateway/errors/badInput';
import { canceled, GatewayError } from '../../nodes/shared/gateway/errors/gatewayError';
import { noAnswer, refused } from '../../nodes/shared/gateway/errors/requestErrors';

const create = { purpose: 'create the video', lostIsBilled: 'unknown' } as const;
const list = { purpose: 'list the models', lostIsBilled: 'no' } as const;

/** As Node throws it. */
const networkError = (message: string, code?: string) =>
	Object.assign(new Error(message), { code });

describe('bad input', () => {
	it('names every problem at once and costs nothing', () => {
		const { record, reach } = badInput([
			{ field: 'Prompt', problem: 'is empty' },
			{ field: 'Media 2: URL', problem: 'must be a public https link' },
		]);
		expect(record).toMatchObject({
			message: 'Prompt is empty; Media 2: URL must be a public https link',
			status: 0,
			billed: 'no',
			retry_can_help: false,
		});
		expect(reach).toBe('none');
	});
});

describe('an error about a job', () => {
	it('is the same error with the job', () => {
		const error = refused(list, { status: 429, headers: {}, text: '' }, 7000);
		const about = error.about({ id: 'job_1', status: 'in_progress', progress: 30 });
		expect(about).toBeInstanceOf(GatewayError);
		expect(about).toMatchObject({ ...error, name: 'GatewayError', message: error.message });
		expect(about.record).toEqual({
			...error.record,
			job: { id: 'job_1', status: 'in_progress', progress: 30 },
		});
	});
});

describe('Stop', () => {
	it('is named as n8n needs it', () => {
		expect(canceled().record).toMatchObject({
			message: 'The execution was canceled',
			status: 0,
			billed: 'no',
		});
	});

	it('says when a request may have been accepted', () => {
		const lost = noAnswer(create, networkError('read ECONNRESET', 'ECONNRESET'));
		expect(canceled(lost).record).toMatchObject({ billed: 'unknown', advice: lost.record.advice });
		expect(canceled(noAnswer(list, undefined)).record.billed).toBe('no');
	});
});
