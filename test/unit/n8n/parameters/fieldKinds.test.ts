import {
	booleanField,
	choiceField,
	durationField,
	numberField,
	requiredNumber,
	requiredText,
	textField,
	textsField,
	withDefault,
} from '../../../../nodes/shared/n8n/parameters/fieldKinds';
import { parametersOf, problemsOf } from './parametersOf';

describe('limits in the editor', () => {
	it('a field has the limits of its rule in the editor', () => {
		const rule = { type: 'number', min: 0, max: 2, default: 1 } as const;
		const { property } = numberField({ displayName: 'Top P', name: 'topP', rule });
		expect(property).toMatchObject({ default: 1, typeOptions: { minValue: 0, maxValue: 2 } });
	});

	it('a field without a rule has no limits in the editor', () => {
		const seed = numberField({ displayName: 'Seed', name: 'seed', request: 'seed' });
		expect(seed.property.typeOptions).toBeUndefined();
	});
});

describe('the values of fields', () => {
	const count = { displayName: 'Count', name: 'it', rule: { type: 'integer', min: 1 } } as const;
	const choice = choiceField({
		...{ displayName: 'Format', name: 'it', default: 'float' },
		rule: { type: 'string', values: ['float', 'base64'] },
	});

	it.each([
		['a number given as text', numberField(count), '3', 3],
		['no number when the field is empty', numberField(count), '', undefined],
		['a text given as a number', textField({ displayName: 'Size', name: 'it' }), 7, '7'],
		[
			'no text when there are only spaces',
			textField({ displayName: 'Size', name: 'it' }),
			' ',
			undefined,
		],
		[
			'the only text of a list',
			textsField({ displayName: 'Stop', name: 'it' }),
			['END', ''],
			'END',
		],
		['several texts', textsField({ displayName: 'Stop', name: 'it' }), ['A', 'B'], ['A', 'B']],
		['a choice', choice, 'base64', 'base64'],
		['no choice when nothing is chosen', choice, undefined, undefined],
		['the default when nothing is chosen', withDefault(choice), undefined, 'float'],
		[
			'a boolean given as text',
			booleanField({ displayName: 'Stream', name: 'it', default: false }),
			'true',
			true,
		],
		[
			'a duration in seconds as milliseconds',
			durationField({ displayName: 'Timeout', name: 'it', unit: 1000, min: 1 }),
			1.5,
			1500,
		],
	])('reads %s', (_, field, given, wanted) => {
		const parameters = parametersOf({ it: given });
		expect(field.read(parameters)).toEqual(wanted);
		expect(parameters.problems).toEqual([]);
	});

	it.each([
		[
			numberField({ displayName: 'Seed', name: 'it', request: 'seed' }),
			NaN,
			'Seed must be a number (it is not a number)',
		],
		[numberField(count), 0, 'Count must be a whole number of at least 1 (it is 0)'],
		[requiredNumber(count), '', 'Count must be a whole number of at least 1 (it is empty)'],
		[choice, 'hex', 'Format must be one of float, base64 (it is "hex")'],
		[
			requiredText({ displayName: 'Input', name: 'it' }),
			['A'],
			'Input must be a text (it is a list)',
		],
		[
			durationField({ displayName: 'Timeout', name: 'it', unit: 1000, min: 1 }),
			1e9,
			'Timeout must be a number from 1 to 2147483 (it is 1000000000)',
		],
	])('refuses an invalid value and names the label of its field', (field, given, problem) => {
		const parameters = parametersOf({ it: given });
		field.read(parameters);
		expect(problemsOf(parameters)).toEqual([problem]);
	});
});
