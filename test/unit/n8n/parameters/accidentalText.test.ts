import { accidentIn, accidentInJson } from '../../../../nodes/shared/n8n/parameters/accidentalText';

const object = 'holds [object Object], an object in place of a text: choose one of its fields';

const expressions = [
	'{{ $json.p }}',
	"{{ $('Start').item.json.p }}",
	'{{ $now.toISO() }}',
	'{{ { a: $json.p }.a }}',
];

describe('the prompt of a video or an image', () => {
	it.each(expressions)(
		'is refused when it holds an expression that was not evaluated: %s',
		(text) => {
			for (const prompt of [text, `A boat on ${text}, at night`]) {
				const { problem, kind } = accidentIn(prompt, true) ?? {};
				expect(problem).toContain('holds an expression that was not evaluated ({{');
				expect(kind).toBeUndefined();
			}
		},
	);

	it('is refused when it holds an object that became text', () => {
		expect(accidentIn('A [object Object] at sea', true)).toEqual({ problem: object });
		expect(accidentIn('[object Object],[object Object]', true)).toEqual({ problem: object });
	});

	it.each([
		['A {{ name }} at sea', 'holds {{ name }}, which nothing has filled in'],
		['A boat in undefined', 'holds the word undefined: check the expression that it comes from'],
	])('is sent with a hint when it may hold something by accident: %s', (prompt, problem) => {
		expect(accidentIn(prompt, true)).toEqual({ problem, kind: 'hint' });
		expect(accidentIn(prompt)).toBeUndefined();
	});

	it.each([
		'A boat',
		'A null island, undefined_1 away, NaNo',
		'{{"scene": "sea"}}',
		'Braces {{ and $json.p',
		'Braces $json.p }} and {{',
		'',
	])('has no accident in %j', (prompt) => {
		expect(accidentIn(prompt, true)).toBeUndefined();
	});
});

describe('a text of a chat or an embedding', () => {
	it.each([...expressions, '[object Object]', ' [object Object], [object Object] '])(
		'is refused when it is nothing else: %j',
		(text) => {
			expect(accidentIn(text)).toEqual({
				problem: expect.stringMatching(/not evaluated|\[object Object\], an object/) as string,
			});
		},
	);

	it.each(['Why does n8n print {{ $json.p }}?', 'Why does JavaScript print [object Object]?'])(
		'is sent with a hint when it may be about such words: %s',
		(text) => {
			expect(accidentIn(text)).toMatchObject({ kind: 'hint' });
		},
	);

	it.each(['undefined', ' null ', 'NaN\n', '#N/A', '#REF!', '#DIV/0!', 'Loading...'])(
		'is refused when it is only %j',
		(text) => {
			const problem = `is only ${text.trim()}: check the expression that it comes from`;
			expect(accidentIn(text)).toEqual({ problem });
			expect(accidentIn(text, true)).toEqual({ problem });
		},
	);
});

describe('the texts of JSON', () => {
	const inText = { a: [{ b: 'about {{ $json.p }}' }] };

	it('is refused in an order, and else sent with a hint, when a text only contains an accident', () => {
		const problem =
			'holds an expression that was not evaluated ({{ $json.p }}): switch the field to Expression';
		expect(accidentInJson(inText, true)).toEqual({ problem });
		expect(accidentInJson(inText)).toMatchObject({ kind: 'hint' });
	});
});
