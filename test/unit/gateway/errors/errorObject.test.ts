import {
	jobFailureReason,
	readErrorObject,
	requestIdOf,
} from '../../../../nodes/shared/gateway/errors/errorObject';
import { fc } from '../../../support/fuzz';

describe('the error object', () => {
	const full = { message: 'no', code: 'a_code', type: 'a_type', param: 'model' };

	it.each<[string, unknown, object | undefined]>([
		['in the form of the specification', { error: full }, full],
		['with param null', { error: { ...full, param: null } }, { ...full, param: undefined }],
		['at the top level', full, full],
		['that is a text', { error: ' no ' }, { message: 'no' }],
		[
			'that is a text beside its code',
			{ error: 'no', code: 'a_code' },
			{ message: 'no', code: 'a_code' },
		],
		[
			'with a number as code',
			{ error: { message: 'no', code: 1101 } },
			{ message: 'no', code: '1101' },
		],
		['with a code only', { error: { code: 'a_code' } }, { code: 'a_code' }],
		['in the form of web frameworks', { detail: 'no' }, { message: 'no' }],
		[
			'with other field names',
			{ msg: 'no', error_code: 'a_code' },
			{ message: 'no', code: 'a_code' },
		],
		['that is null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['that is true beside a message', { error: true, message: 'no' }, { message: 'no' }],
		['none when it is empty', { error: {} }, undefined],
		['none when it is an empty text', { error: ' ' }, undefined],
		['none in an empty body', {}, undefined],
		['none in a list', ['no'], undefined],
		['none in null', null, undefined],
		['none in a text', 'no', undefined],
	])('reads the error object of a body: %s', (_, body, expected) => {
		// JSON text, because absent and undefined fields mean the same here.
		expect(JSON.stringify(sorted(readErrorObject(body)))).toBe(JSON.stringify(sorted(expected)));
	});

	const sorted = (fields: object | undefined) =>
		fields && Object.fromEntries(Object.entries(fields).sort());

	it('never throws on any error object', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (error) => {
				readErrorObject(error);
				readErrorObject({ error });
			}),
		);
	});
});

describe('the reason why a job failed', () => {
	it.each<[string, unknown, object]>([
		['an object', { error: { code: 'a_code', message: 'no' } }, { code: 'a_code', message: 'no' }],
		['a text', { error: 'no' }, { message: 'no' }],
		['a text in output', { output: { error: 'no' } }, { message: 'no' }],
		['an object in data', { data: { error: { message: 'no' } } }, { message: 'no' }],
		[
			'the native form in output',
			{ output: { task_status: 'FAILED', code: 'InternalError', message: 'no' } },
			{ message: 'no', code: 'InternalError' },
		],
		['failure_reason', { failure_reason: 'no' }, { message: 'no' }],
		['an object with unknown fields', { error: { why: 'no' } }, { message: '{"why":"no"}' }],
		['a list', { error: ['no'] }, { message: '["no"]' }],
		['a number', { error: 7 }, { message: '7' }],
		['null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['none in a job without a reason', { status: 'failed' }, {}],
		['none when it is null', { error: null }, {}],
		['none in a text instead of a job', 'failed', {}],
	])('reads the reason why a job failed: %s', (_, job, expected) => {
		expect(jobFailureReason(job)).toEqual(expected);
	});

	it.each([{ error: '' }, { error: {} }, { error: [] }])(
		'finds no reason why a job failed in %j',
		(job) => {
			expect(jobFailureReason(job)).toEqual({});
		},
	);

	it('never throws on any reason why a job failed, and returns it as text', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				for (const job of [
					value,
					{ error: value },
					{ output: value },
					{ data: { error: value } },
				]) {
					const { message = '' } = jobFailureReason(job);
					expect(typeof message).toBe('string');
				}
			}),
		);
	});
});

describe('the request id', () => {
	it.each([
		[{ 'x-request-id': ' r1 ' }, { request_id: 'r2' }, 'r1'],
		[{}, { request_id: 'r2' }, 'r2'],
		[{}, { error: { request_id: 'r3' } }, 'r3'],
		[{ 'x-request-id': '' }, undefined, undefined],
	])(
		'looks for the request ID in the headers %j, then in the body %j',
		(headers, body, expected) => {
			expect(requestIdOf(headers as Record<string, string>, body)).toBe(expected);
		},
	);
});
