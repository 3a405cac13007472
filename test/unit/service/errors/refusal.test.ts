import { otherModelIn, refusalOf } from '../../../../nodes/shared/service/errors/refusal';
import { endpoints, type Endpoint } from '../../../../nodes/shared/service/protocol/endpoints';
import type { RefusalKind } from '../../../../nodes/shared/service/protocol/errorCodes';
import type { ErrorObject } from '../../../../nodes/shared/service/reader/reason';
import { statedRefusal } from '../../../../nodes/shared/service/reader/refusal';

const { chat, videoCreate, imageGenerate, video, referenceVideoCreate } = endpoints;
/** Only one endpoint takes media. */
const mediaOf = (endpoint: Endpoint) => (endpoint === referenceVideoCreate ? 'given' : undefined);
const insufficientQuota = { code: 'insufficient_user_quota' };
const isBlamedOnProvider = { message: 'The upstream service failed while it read the media' };

describe('why the service refused', () => {
	it.each<[Endpoint, status: number, ErrorObject, RefusalKind]>([
		[chat, 403, { message: "The key's group has no permission for it" }, 'notPermitted'],
		[chat, 403, { message: 'Access denied by moderation' }, 'forbidden'],
		[imageGenerate, 400, { message: 'white balance must be 0' }, 'badRequest'],
		[chat, 403, insufficientQuota, 'quotaExceeded'],
		[videoCreate, 400, { code: 'Arrearage', message: 'Denied' }, 'quotaExceeded'],
		[videoCreate, 429, { message: 'Insufficient balance' }, 'quotaExceeded'],
		[chat, 500, insufficientQuota, 'serverError'],
		// Only a read requests nothing but what its address names.
		[video, 400, { message: 'task does not exist' }, 'notFound'],
		[chat, 400, { message: 'task does not exist' }, 'badRequest'],
		[videoCreate, 400, { code: '400', message: 'Invalid model name' }, 'unknownModel'],
		[chat, 404, { message: 'models/chat-9 is not found for v1' }, 'unknownModel'],
		[imageGenerate, 400, { message: 'Model error: the image was not found' }, 'badRequest'],
		[imageGenerate, 400, { message: 'The Model Gateway got no image: not found' }, 'badRequest'],
		[videoCreate, 400, { message: 'The media for the model could not be found' }, 'badRequest'],
		[chat, 200, { code: '429', message: 'Rate limit' }, 'tooManyRequests'],
		[chat, 200, { message: 'rate_limited' }, 'tooManyRequests'],
		[chat, 200, { code: '18', message: 'Open api qps request limit reached' }, 'tooManyRequests'],
		[chat, 403, { message: 'API rate limit exceeded' }, 'tooManyRequests'],
		[videoCreate, 400, { code: 'Throttling.User', message: 'Denied' }, 'tooManyRequests'],
		[videoCreate, 200, { message: 'More than the generate limit of 9 s' }, 'badRequest'],
		[chat, 200, { code: 'too_many_images', message: 'At most 4' }, 'badRequest'],
		[referenceVideoCreate, 500, { message: 'missing media' }, 'missingMedia'],
		[referenceVideoCreate, 500, { message: 'Internal error' }, 'missingMediaOrServerError'],
		[referenceVideoCreate, 500, isBlamedOnProvider, 'missingMediaOrServerError'],
	])('is told by the code, the words and the status: %#', (endpoint, status, error, refusal) => {
		expect(refusalOf(status, error, { cost: endpoint.cost, media: mediaOf(endpoint) })).toBe(
			refusal,
		);
	});

	it.each([
		'You have reached your monthly spend limit',
		'Monthly limit exceeded for this key',
		'Usage limit reached, resets on Monday',
		'All credits have been exhausted',
		'You have exceeded your monthly budget',
		'User has exceeded their budget',
		'Your quota has been used up',
		'The monthly quota of this key has been exceeded.',
		'You have no credits left',
		'The key has reached its budget limit',
		'Your spending limit of $10 has been reached',
		'您的账户已欠费，请充值后重试',
	])('is an empty account under any status: %s', (message) => {
		for (const status of [200, 400, 403, 429])
			expect(refusalOf(status, { message }, chat)).toBe('quotaExceeded');
	});

	it('is no rate limit that is called a quota', () => {
		const message = "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'";
		expect(refusalOf(429, { message }, chat)).toBe('tooManyRequests');
	});

	it.each<[body: object, job: boolean, generation: boolean, read: boolean]>([
		[{ code: 'invalid_prompt', message: 'No' }, true, true, true],
		// Only a job is fetched by an ID.
		[{ success: false, message: 'No', id: 'x1' }, false, true, false],
		[{ success: 'n', message: 'No' }, true, true, false],
		[{ result: false, message: 'No' }, true, true, false],
		[{ result: 'no', message: 'No' }, false, false, false],
		[{ code: 408, message: 'No' }, false, false, false],
		[{ code: 403, message: 'No' }, true, true, false],
		[{ status: '403', message: 'No' }, true, true, false],
		[{ status: 504, message: 'No' }, false, false, false],
		[{ code: -1, message: 'No' }, true, true, false],
		[{ code: 7, message: 'No' }, false, false, false],
		[{ code: 7, message: 'task does not exist' }, true, true, false],
		[{ code: 7, message: 'The limit is checked, and it is queued' }, false, false, false],
	])('is told by a 2xx response that says no and nothing else: %j', (body, ...told) => {
		const costs = ['job', 'generation', 'read'] as const;
		expect(costs.map((cost) => statedRefusal(body, cost) !== undefined)).toEqual(told);
	});

	it('is not told by a 2xx response with more than can be searched', () =>
		expect(statedRefusal({ code: 402, data: Array(2_000).fill({}) }, 'job')).toBeUndefined());
});

it('names a model that belongs to another endpoint, if it is known', () => {
	const model = 'beta-2.7-r2v';
	const form = new FormData();
	form.set('model', model);
	const other = { id: model, kind: 'referenceVideo' };
	expect(otherModelIn(videoCreate, { body: { model } })).toEqual(other);
	expect(otherModelIn(videoCreate, { form })).toEqual(other);
	expect(otherModelIn(referenceVideoCreate, { body: { model } })).toBeUndefined();
	for (const unknown of ['unknown-1', 7])
		expect(otherModelIn(videoCreate, { body: { model: unknown } })).toBeUndefined();
});
