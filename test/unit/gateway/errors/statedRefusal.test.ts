import { statedRefusal } from '../../../../nodes/shared/gateway/errors/statedRefusal';

describe('a refusal in a 2xx response without an error object', () => {
	it.each<[object, string]>([
		[{ code: 1102, message: 'Account balance not enough', request_id: 'r-1' }, 'not enough'],
		[
			{ task_id: '', base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
			'insufficient balance',
		],
		[{ code: 402, msg: 'Credits insufficient', data: null }, 'Credits insufficient'],
		[{ code: '40001', msg: 'model not found', data: {}, traceId: 'x' }, 'model not found'],
		[{ status: 402, message: 'Payment required' }, 'Payment required'],
		[{ code: 20015, msg: '余额不足', data: null }, '余额不足'],
		[{ success: false, message: 'No available channel for this model' }, 'No available channel'],
		[{ success: 'false', detail: 'The prompt is too long', result: [] }, 'too long'],
		[{ status: 'error', message: 'The queue is full', time: 1732000000 }, 'queue is full'],
		[{ code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded' }, 'rate limit'],
	])('is read with its reason: %j', (body, reason) => {
		expect(statedRefusal(body)?.message).toContain(reason);
	});

	it('is read with its code where it gives no reason', () => {
		expect(statedRefusal({ code: 'InvalidParameter' })).toEqual({ code: 'InvalidParameter' });
	});

	it.each<[string, unknown]>([
		['a response that says nothing', { message: 'Your video is on its way' }],
		['a code of success', { code: 0, message: 'accepted', data: {} }],
		['a code of success as a text', { code: '200', msg: 'ok' }],
		['a number that some services use for success', { code: 1, description: 'Submit success' }],
		['a message of success', { code: 10000, message: 'Success!' }],
		['a message of success in Chinese', { code: 10000, msg: '请求成功', data: null }],
		['an unknown code with words that say nothing', { code: 1000, message: 'See the console' }],
		['a state of a job', { status: 'IN_QUEUE', code: 100, message: 'In line', request_id: 'r' }],
		['a code that is a state of a job', { code: 'PENDING', message: 'Invalid soon' }],
		['a truth value that says yes', { success: true, code: 1000, message: 'limit: 3 of 10' }],
		['a time limit that passed', { success: false, message: 'timed out waiting for the job' }],
		['the status of a gateway that gave up waiting', { code: 504, message: 'upstream error' }],
		['an ID under another name', { code: 7, msg: 'limit 3 of 10', ref: 'gen_123' }],
		['an ID deep inside', { code: 7, msg: 'limit', data: { order: { orderNo: 'A-1' } } }],
		['an ID in a list', { code: 7, msg: 'limit', data: { tasks: ['8498'] } }],
		['an image', { status: 'error', message: 'slow', images: [{ b64_json: 'iVBORw0KGgo' }] }],
		['a link', { status: 'error', message: 'slow', data: { pollUrl: '/jobs/1' } }],
		['more than can be searched', { code: 402, data: { a: { b: { c: { d: { e: {} } } } } } }],
		['a list', [{ code: 402, msg: 'no' }]],
		['a text', 'no'],
	])('is not seen in %s, since the request may have been accepted', (_, body) => {
		expect(statedRefusal(body)).toBeUndefined();
	});
});
