import { errorCodes, statusMeanings } from '../../../../nodes/shared/gateway/protocol/errorCodes';
import { adviceOf } from '../../../../nodes/shared/n8n/errors/advice';

describe('the error codes', () => {
	it('are all codes of the specification', () => {
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

	it('are transient only when nobody has to change anything', () => {
		const healing = Object.keys(errorCodes).filter((code) => errorCodes[code].isTransient);
		expect(healing).toEqual(['video_not_ready', 'upstream_error', 'write_response_body_failed']);
	});

	it('have a meaning for every status of the specification', () => {
		for (const status of [400, 401, 403, 429, 500])
			expect(statusMeanings).toHaveProperty(`${status}`);
		expect(
			Object.keys(statusMeanings).filter((status) => statusMeanings[Number(status)].isTransient),
		).toEqual([...['408', '425', '429', '500']]);
	});

	it('say in one line what they mean and what to do', () => {
		for (const { meaning, refusal } of [errorCodes, statusMeanings].flatMap(Object.values)) {
			expect(meaning).toMatch(/^[a-z][^.\n]+$/);
			expect(adviceOf([{ about: 'refusal', refusal }])).toMatch(/^[A-Z].+\.$/);
		}
	});
});
