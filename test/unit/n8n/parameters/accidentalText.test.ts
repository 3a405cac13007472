import { accidentIn, accidentInJson } from '../../../../nodes/shared/n8n/parameters/accidentalText';

const unevaluated = (expression: string) =>
	`holds an expression that was not evaluated (${expression}): switch the field to Expression`;
const object = 'holds [object Object], an object in place of a text: choose one of its fields';

const expressions = [
	'{{ $json.p }}',
	'={{ $json.p }}',
	'{{$json["a b"]}}',
	"{{ $('Start').item.json.p }}",
	'{{ $node["Start"].json.p }}',
	'{{ $input.first().json.p }}',
	'{{ $now.toISO() }}',
	'{{ $vars.style }}',
	'{{ { a: $json.p }.a }}',
	' {{ $json.a }} {{ $json.b }}\n',
];

describe('the prompt of a video or an image', () => {
	it.each(expressions)(
		'is refused when it holds an expression that was not evaluated: %s',
		(text) => {
			for (const prompt of [text, `A boat on ${text}, at night`]) {
				const { problem, isHint } = accidentIn(prompt, true) ?? {};
				expect(problem).toContain('holds an expression that was not evaluated ({{');
				expect(isHint).toBeUndefined();
			}
		},
	);

	it('names the expression, and cuts a long one', () => {
		const text = `A {{ unfilled }} boat in {{ $json.city }}`;
		expect(accidentIn(text, true)).toEqual({ problem: unevaluated('{{ $json.city }}') });
		const long = `{{ $json.${'x'.repeat(1000)} }}`;
		expect(accidentIn(long, true)).toEqual({ problem: unevaluated(`${long.slice(0, 80)}…`) });
	});

	it('is refused when it holds an object that became text', () => {
		expect(accidentIn('A [object Object] at sea', true)).toEqual({ problem: object });
		expect(accidentIn('[object Object],[object Object]', true)).toEqual({ problem: object });
	});

	it.each([
		['A {{ name }} at sea', 'holds {{ name }}, which nothing has filled in'],
		['A {{item.name}} at sea', 'holds {{item.name}}, which nothing has filled in'],
		['A boat in undefined', 'holds the word undefined: check the expression that it comes from'],
		['A boat, [undefined]', 'holds the word undefined: check the expression that it comes from'],
		['NaN seconds of sea', 'holds the word NaN: check the expression that it comes from'],
	])('is sent with a hint when it may hold something by accident: %s', (prompt, problem) => {
		expect(accidentIn(prompt, true)).toEqual({ problem, isHint: true });
		expect(accidentIn(prompt)).toBeUndefined();
	});

	it.each([
		'A boat',
		'A null island, undefined_1 away, NaNo',
		'Costs $json and $5, {$now}',
		'{"scene": {"shot": {"lens": "35mm"}}}',
		'{{"scene": "sea"}}',
		'Braces {{ and $json.p',
		'Braces $json.p }} and {{',
		'an [object] of brass',
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
			expect(accidentIn(text)).toMatchObject({ isHint: true });
		},
	);

	it.each([
		'{{ name }}',
		'Dear {{ name }}',
		'{% for x in y %}',
		'What is undefined?',
		'null and void',
	])('has no accident in the text of another program: %s', (text) => {
		expect(accidentIn(text)).toBeUndefined();
	});

	it.each(['undefined', ' null ', 'NaN\n'])('is refused when it is only the word %j', (text) => {
		const problem = `is only the word ${text.trim()}: check the expression that it comes from`;
		expect(accidentIn(text)).toEqual({ problem });
		expect(accidentIn(text, true)).toEqual({ problem });
	});

	it.each(['Undefined', 'NULL', 'nan', 'None'])('may be only the word %s', (text) => {
		expect(accidentIn(text)).toBeUndefined();
	});
});

describe('the texts of JSON', () => {
	const inText = { a: [{ b: 'about {{ $json.p }}' }] };

	it('is refused when one of its texts is nothing but an accident', () => {
		const json = { ...inText, c: { d: '{{ $json.q }}' } };
		expect(accidentInJson(json)).toEqual({ problem: unevaluated('{{ $json.q }}') });
	});

	it('is refused in an order, and else sent with a hint, when a text only contains an accident', () => {
		expect(accidentInJson(inText, true)).toEqual({ problem: unevaluated('{{ $json.p }}') });
		expect(accidentInJson(inText)).toMatchObject({ isHint: true });
	});

	it('may have the words null and undefined, and values that are no text', () => {
		expect(accidentInJson({ a: 'null', b: ['undefined', null, 7, true] }, true)).toBeUndefined();
	});
});
