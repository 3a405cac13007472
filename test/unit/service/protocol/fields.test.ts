import { fieldProblem, type FieldRule } from '../../../../nodes/shared/service/protocol/fields';

const integer: FieldRule = { type: 'integer', min: 2, max: 15 };
const number: FieldRule = { type: 'number', min: -2, max: 2 };
const choice: FieldRule = { type: 'string', values: ['720P', '1080P'] };

describe('valid values', () => {
	it.each<[unknown, FieldRule]>([
		[2, integer],
		[15, integer],
		[-2, number],
		[0, number],
		[1.5, number],
		[-7, { type: 'integer' }],
		['720P', choice],
		[false, { type: 'boolean' }],
		['', { type: 'string' }],
		['a size that is no example', { type: 'string', examples: ['1024x1024'] }],
		[['stop'], { type: 'string | array' }],
		[{}, { type: 'object' }],
	])('accepts the value %j', (value, field) => {
		expect(fieldProblem(value, field)).toBeUndefined();
	});
});

describe('invalid values', () => {
	it.each<[unknown, FieldRule, string]>([
		[1, integer, 'must be a whole number from 2 to 15 (it is 1)'],
		[16, integer, 'must be a whole number from 2 to 15 (it is 16)'],
		[2.5, integer, 'must be a whole number from 2 to 15 (it is 2.5)'],
		['5', integer, 'must be a whole number from 2 to 15 (it is "5")'],
		[2 ** 53, { type: 'integer' }, 'must be a whole number (it is 9007199254740992)'],
		[0, { type: 'integer', min: 1 }, 'must be a whole number of at least 1 (it is 0)'],
		[9, { type: 'integer', max: 8 }, 'must be a whole number of at most 8 (it is 9)'],
		[2.1, number, 'must be a number from -2 to 2 (it is 2.1)'],
		[NaN, { type: 'number' }, 'must be a number (it is not a number)'],
		['720p', choice, 'must be one of 720P, 1080P (it is "720p")'],
		[undefined, choice, 'must be one of 720P, 1080P (it is empty)'],
		['true', { type: 'boolean' }, 'must be true or false (it is "true")'],
	])('refuses the value %j for the rule %j', (value, field, problem) => {
		expect(fieldProblem(value, field)).toBe(problem);
	});
});
