import {
	deniedBy,
	errorCodes,
	statusRefusals,
	passes,
} from '../../../../nodes/shared/service/protocol/errorCodes';

describe('the error codes', () => {
	it('marks an error code as transient only when nobody has to change anything', () => {
		const transient = Object.keys(errorCodes).filter((code) => passes(errorCodes[code]));
		expect(transient).toEqual(['video_not_ready', 'upstream_error', 'write_response_body_failed']);
	});

	it('has a meaning for every HTTP status of the specification, and marks the transient ones', () => {
		for (const status of [400, 401, 403, 429, 500])
			expect(statusRefusals).toHaveProperty(`${status}`);
		expect(
			Object.keys(statusRefusals).filter((status) => passes(statusRefusals[Number(status)])),
		).toEqual(['408', '425', '429', '500']);
	});

	it.each([
		['invalidKey', 401, 'key'],
		['invalidKey', 500, 'key'],
		['notFound', 404, 'job'],
		['gone', 410, 'request'],
		['refusedContent', 400, 'request'],
		['refusedContent', 500, undefined],
		['serverError', 500, undefined],
	] as const)('says what is denied for good: %s with %d', (kind, status, denied) => {
		expect(deniedBy(kind, status)).toBe(denied);
	});
});
