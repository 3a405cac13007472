import { statedRefusal } from '../../../../nodes/shared/service/reader/refusal';

describe('a refusal in a 2xx response without an error object', () => {
	it.each<[string, unknown]>([
		['a code of success as a text', { code: '200', msg: 'ok' }],
		['a message of success', { code: 10000, message: 'Success!' }],
		['a state of a job', { status: 'IN_QUEUE', code: 100, message: 'In line', request_id: 'r' }],
		['a code that is a state of a job', { code: 'PENDING', message: 'Invalid soon' }],
		['a truth value that says yes', { success: true, code: 1000, message: 'limit: 3 of 10' }],
		['an ID under another name', { code: 7, msg: 'limit 3 of 10', ref: 'gen_123' }],
		['an ID in a list', { code: 7, msg: 'limit', data: { tasks: ['8498'] } }],
		['an image', { status: 'error', message: 'slow', images: [{ b64_json: 'iVBORw0KGgo' }] }],
		['a link', { status: 'error', message: 'slow', data: { pollUrl: '/jobs/1' } }],
		['more than can be searched', { code: 402, data: Array(2_000).fill({}) }],
		['a list', [{ code: 402, msg: 'no' }]],
		['an empty code', { code: null, message: 'limit' }],
		['a truth value about something else', { nsfw: false, code: 10000, message: 'x' }],
		['a result in words', { result: 'failed', code: 7, message: 'Invalid' }],
		['a text', 'no'],
	])('is not seen in %s, since the request may have been accepted', (_, body) => {
		expect(statedRefusal(body, 'job')).toBeUndefined();
	});

	it.each<unknown>([
		...[400, 455, '499', 500, 509, -1, -12].map((code) => ({ code, message: 'x' })),
		...['false', 'No', 'failed'].map((success) => ({ success, message: 'x' })),
		{ result: false, message: 'x' },
	])('is seen in %j', (body) => expect(statedRefusal(body, 'job')).toMatchObject({ message: 'x' }));
});
