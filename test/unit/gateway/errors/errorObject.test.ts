import {
	jobFailureReason,
	readErrorObject,
	requestIdOf,
} from '../../../../nodes/shared/gateway/errors/errorObject';
import { fc } from '../../../support/fuzz';

describe('the error object', () => {
	const full = { message: 'no', code: 'a_code', type: 'a_type', param: 'model' };

	it.each<[string, unknown, object | undefined]>([
		['as specified', { error: full }, full],
		['with param null', { error: { ...full, param: null } }, { ...full, param: undefined }],
		['at the surface', full, full],
		['as a text', { error: ' no ' }, { message: 'no' }],
		[
			'as a text beside its code',
			{ error: 'no', code: 'a_code' },
			{ message: 'no', code: 'a_code' },
		],
		[
			'with a number as code',
			{ error: { message: 'no', code: 1101 } },
			{ message: 'no', code: '1101' },
		],
		['with its code only', { error: { code: 'a_code' } }, { code: 'a_code' }],
		['as frameworks word it', { detail: 'no' }, { message: 'no' }],
		['in other words', { msg: 'no', error_code: 'a_code' }, { message: 'no', code: 'a_code' }],
		['null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['true beside a message', { error: true, message: 'no' }, { message: 'no' }],
		['empty', { error: {} }, undefined],
		['an empty text', { error: ' ' }, undefined],
		['of nothing', {}, undefined],
		['no object', ['no'], undefined],
		['null', null, undefined],
		['a text alone', 'no', undefined],
	])('is read as %s', (_, body, expected) => {
		// Absent and undefined fields mean the same here.
		expect(JSON.stringify(sorted(readErrorObject(body)))).toBe(JSON.stringify(sorted(expected)));
	});

	const sorted = (fields: object | undefined) =>
		fields && Object.fromEntries(Object.entries(fields).sort());

	it('is read without throwing, whatever it is', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (error) => {
				readErrorObject(error);
				readErrorObject({ error });
			}),
		);
	});
});

describe('why a job failed', () => {
	it.each<[string, unknown, object]>([
		['an object', { error: { code: 'a_code', message: 'no' } }, { code: 'a_code', message: 'no' }],
		['a text', { error: 'no' }, { message: 'no' }],
		['a text within', { output: { error: 'no' } }, { message: 'no' }],
		['an object within', { data: { error: { message: 'no' } } }, { message: 'no' }],
		[
			'the native form',
			{ output: { task_status: 'FAILED', code: 'InternalError', message: 'no' } },
			{ message: 'no', code: 'InternalError' },
		],
		['a reason', { failure_reason: 'no' }, { message: 'no' }],
		['an object of unknown fields', { error: { why: 'no' } }, { message: '{"why":"no"}' }],
		['a list', { error: ['no'] }, { message: '["no"]' }],
		['a number', { error: 7 }, { message: '7' }],
		['null beside a message', { error: null, message: 'no' }, { message: 'no' }],
		['nothing', { status: 'failed' }, {}],
		['null', { error: null }, {}],
		['no object', 'failed', {}],
	])('is read from %s', (_, job, expected) => {
		expect(jobFailureReason(job)).toEqual(expected);
	});

	it.each([{ error: '' }, { error: {} }, { error: [] }])('is not found in %j', (job) => {
		expect(jobFailureReason(job)).toEqual({});
	});

	it('is read without throwing, whatever the job says', () => {
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
	])('is found in the headers %j and the body %j', (headers, body, expected) => {
		expect(requestIdOf(headers as Record<string, string>, body)).toBe(expected);
	});
});
