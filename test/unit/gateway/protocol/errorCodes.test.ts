import { errorCodes, statusMeanings } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../../../nodes/shared/n8n/errors/advice';

const refused = {
	...({ message: 'No', reach: 'answered', status: 400 } as const),
	...({ billed: 'no', retry_can_help: false, cost: 'generation' } as const),
};

describe('the error codes', () => {
	it('lists all error codes of the specification', () => {
		expect(Object.keys(errorCodes)).toEqual([
			'invalid_api_key',
			'model_not_found',
			'invalid_model',
			'invalid_prompt',
			'video_not_found',
			'video_not_ready',
			'quota_exceeded',
			'invalid_image_file',
			'upstream_error',
			'write_response_body_failed',
		]);
	});

	it('marks an error code as transient only when nobody has to change anything', () => {
		const transient = Object.keys(errorCodes).filter((code) => errorCodes[code].isTransient);
		expect(transient).toEqual(['video_not_ready', 'upstream_error', 'write_response_body_failed']);
	});

	it('has a meaning for every HTTP status of the specification, and marks the transient ones', () => {
		for (const status of [400, 401, 403, 429, 500])
			expect(statusMeanings).toHaveProperty(`${status}`);
		expect(
			Object.keys(statusMeanings).filter((status) => statusMeanings[Number(status)].isTransient),
		).toEqual([...['408', '425', '429', '500']]);
	});

	it('explains every error code and status in one line and advises one action', () => {
		for (const { meaning, refusal } of [errorCodes, statusMeanings].flatMap(Object.values)) {
			expect(meaning).toMatch(/^[a-z][^.\n]+$/);
			expect(adviceOf({ ...refused, refusal })).toMatch(/^[A-Z].+\.$/);
		}
	});
});
