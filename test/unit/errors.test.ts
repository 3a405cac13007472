import { GatewayError, stopped } from '../../nodes/shared/gateway/errors/gatewayError';
import { noResponse, refused } from '../../nodes/shared/gateway/errors/requestErrors';
import { badInput } from '../../nodes/shared/n8n/errors/badInput';
import { shown } from '../support/gatewayWorld';

const create = { purpose: 'create the video', cost: 'job' } as const;
const list = { purpose: 'list the models', cost: 'read' } as const;

/** As Node throws it. */
const networkError = (message: string, code?: string) =>
	Object.assign(new Error(message), { code });

describe('bad input', () => {
	it('names every problem at once and costs nothing', () => {
		const { record, reach } = shown(
			badInput([
				{ field: 'Prompt', problem: 'is empty' },
				{ field: 'Media 2: URL', problem: 'must be a public https link' },
			]),
		);
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
		const about = error.with({ job: { id: 'job_1', status: 'in_progress', progress: 30 } });
		expect(about).toBeInstanceOf(GatewayError);
		expect(about).toMatchObject({ name: 'GatewayError', message: error.message });
		expect(about.failure).toEqual({
			...error.failure,
			job: { id: 'job_1', status: 'in_progress', progress: 30 },
		});
	});
});

describe('Stop', () => {
	it('is named as n8n needs it', () => {
		expect(shown(stopped()).record).toMatchObject({
			message: 'The execution was canceled',
			status: 0,
			billed: 'no',
		});
	});

	it('says when a request may have been accepted', () => {
		const lost = noResponse(create, networkError('read ECONNRESET', 'ECONNRESET'));
		expect(shown(stopped(lost)).record).toMatchObject({
			billed: 'unknown',
			advice: shown(lost).record.advice,
		});
		expect(shown(stopped(noResponse(list, undefined))).record.billed).toBe('no');
	});
});
