import type { IExecuteFunctions } from 'n8n-workflow';
import { bodyOf, labelOf } from '../../nodes/shared/n8n/parameters/field';
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
} from '../../nodes/shared/n8n/parameters/fieldKinds';
import { ItemParameters } from '../../nodes/shared/n8n/parameters/itemParameters';
import { listField } from '../../nodes/shared/n8n/parameters/listField';

/** The parameters of an item, as n8n gives them. */
function parametersOf(values: Record<string, unknown>): ItemParameters {
	const context = {
		getNodeParameter: (name: string, _: number, fallback: unknown) => values[name] ?? fallback,
	};
	// All that it asks of its context.
	return new ItemParameters(context as unknown as IExecuteFunctions, 0);
}

const problemsOf = ({ problems }: ItemParameters) =>
	problems.map(({ field, problem }) => `${field} ${problem}`);

const prompt = requiredText({ displayName: 'Prompt', name: 'prompt', request: 'input.prompt' });
const seed = numberField({ displayName: 'Seed', name: 'seed', request: 'parameters.seed' });
const watermark = booleanField({
	...{ displayName: 'Watermark', name: 'watermark', request: 'parameters.watermark' },
	default: false,
});
const own = textField({ displayName: 'Own', name: 'own' });

describe('the body of a request', () => {
	it('has what was set where its declaration says, with its type', () => {
		const values = { prompt: 'A boat', seed: '0', watermark: false, own: 'not sent' };
		const body: { input: { prompt: string } } & { parameters?: { seed?: number } } = bodyOf(
			parametersOf(values),
			[prompt, seed, watermark, own],
		);
		expect(body).toEqual({
			input: { prompt: 'A boat' },
			parameters: { seed: 0, watermark: false },
		});
	});

	it('leaves out what was not', () => {
		const parameters = parametersOf({ prompt: ' ' });
		expect(bodyOf(parameters, [prompt, seed, watermark])).toEqual({ input: { prompt: ' ' } });
		expect(problemsOf(parameters)).toEqual(['Prompt is empty']);
	});
});

describe('limits in the editor', () => {
	it('are those of the rule', () => {
		const rule = { type: 'number', min: 0, max: 2, default: 1 } as const;
		const { property } = numberField({ displayName: 'Top P', name: 'topP', rule });
		expect(property).toMatchObject({ default: 1, typeOptions: { minValue: 0, maxValue: 2 } });
	});

	it('are not there without one', () => {
		expect(seed.property.typeOptions).toBeUndefined();
	});
});

describe('a value', () => {
	const count = { displayName: 'Count', name: 'it', rule: { type: 'integer', min: 1 } } as const;
	const choice = choiceField({
		...{ displayName: 'Format', name: 'it', default: 'float' },
		rule: { type: 'string', values: ['float', 'base64'] },
	});

	it.each([
		['a numeral', numberField(count), '3', 3],
		['no number', numberField(count), '', undefined],
		['a text', textField({ displayName: 'Size', name: 'it' }), 7, '7'],
		['no text but spaces', textField({ displayName: 'Size', name: 'it' }), ' ', undefined],
		['one text of a list', textsField({ displayName: 'Stop', name: 'it' }), ['END', ''], 'END'],
		['texts', textsField({ displayName: 'Stop', name: 'it' }), ['A', 'B'], ['A', 'B']],
		['a choice', choice, 'base64', 'base64'],
		['no choice', choice, undefined, undefined],
		['its default', withDefault(choice), undefined, 'float'],
		['"true"', booleanField({ displayName: 'Stream', name: 'it', default: false }), 'true', true],
		[
			'milliseconds',
			durationField({ displayName: 'Timeout', name: 'it', unit: 1000, min: 1 }),
			1.5,
			1500,
		],
	])('is read: %s', (_, field, given, wanted) => {
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
	])('is refused under its label', (field, given, problem) => {
		const parameters = parametersOf({ it: given });
		field.read(parameters);
		expect(problemsOf(parameters)).toEqual([problem]);
	});
});

describe('the entries of a list', () => {
	const url = requiredText({ displayName: 'URL', name: 'url', request: 'media[].url' });
	const media = listField({
		...{ displayName: 'Media', name: 'media', request: 'media', entry: 'Medium', fields: [url] },
	});

	it('are named in problems by their number', () => {
		const parameters = parametersOf({ 'media.values': [{ url: 'https://a.example' }, {}] });
		expect(media.read(parameters).map((place) => url.read(place))).toEqual([
			'https://a.example',
			'',
		]);
		expect(problemsOf(parameters)).toEqual(['Medium 2: URL is empty']);
	});

	it('are found by their place in the request', () => {
		expect(labelOf('media[1].url', [prompt, media])).toBe('Medium 2: URL');
		expect(labelOf('media', [prompt, media])).toBe('Media');
		expect(labelOf('input.prompt', [prompt, media])).toBe('Prompt');
		expect(labelOf('nothing.known', [prompt, media])).toBe('nothing.known');
	});
});
