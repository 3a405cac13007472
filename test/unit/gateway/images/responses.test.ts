import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { readChatImages, readImages } from '../../../../nodes/shared/gateway/images/responses';
import { answerOf } from '../../../support/data/answers';
import { fc } from '../../../support/data/fuzz';

const link = 'https://pictures.example/a_(1).png?sig=a%2Fb+c==&x=(y(z))';
const png = 'https://a.example/1.png';
const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');
const chat = (content: unknown, parts: object = {}) => ({
	model: 'm',
	choices: [{ index: 0, message: { role: 'assistant', content, ...parts }, finish_reason: 'stop' }],
});

describe('the images of a response', () => {
	const base64 = pixel.toString('base64');
	it.each<[string, unknown]>([
		['in the form of the specification', { data: [{ url: link }] }],
		['in a list of links', { data: [link] }],
		['in images', { images: [{ image_url: { url: link } }] }],
		['in an object instead of a list', { created: 7, data: { url: link } }],
		['at the top level', { created: 7, url: link }],
		['in a list named output', { status: 'succeeded', output: [link] }],
		['as the output', { status: 'succeeded', output: link }],
		['in the images of an envelope', { code: 0, data: { images: [{ url: link }] } }],
		['in the results of a task', { output: { results: [{ url: ` ${link}\n` }] } }],
		['in data within data', { data: { data: [{ image_url: link }] } }],
		[
			'beside entries without a link',
			{ data: [null, {}, { url: '' }, { url: 'a.png' }, { url: link }] },
		],
		['beside empty base64', { data: [{ b64_json: '', url: link }] }],
		['beside base64 without a byte', { data: [{ b64_json: '!!!' }, { url: link }] }],
		['beside an empty list', { data: [], images: [{ url: link }] }],
	])('finds the link to an image %s', (_, body) => {
		expect(readImages(answerOf(body)).images).toEqual([expect.objectContaining({ url: link })]);
	});

	it.each<[string, object]>([
		['as b64_json', { b64_json: base64 }],
		['as image_base64', { image_base64: base64 }],
		['as b64_json with the start of a data URL', { b64_json: `data:image/gif;base64,${base64}` }],
		['as url', { url: `data:image/gif;base64,${base64}` }],
		['as image_url', { image_url: { url: `data:image/gif;base64,${base64}` } }],
	])('reads an image inside the response %s, and leaves its data out of the fields', (_, entry) => {
		const body = { data: [{ ...entry, revised_prompt: 'a cat' }] };
		const [picture] = readImages(answerOf(body)).images;
		expect(Buffer.from(picture.bytes ?? [])).toEqual(pixel);
		expect(picture.fields).toMatchObject({ revised_prompt: 'a cat' });
		expect(JSON.stringify(picture.fields)).not.toContain(base64);
	});

	it('keeps all other fields of an image response', () => {
		const usage = { total_tokens: 7 };
		const { fields } = readImages(
			answerOf(
				{ created: 1, data: [{ url: link }], usage, background: 'auto' },
				{ requestId: 'r1' },
			),
		);
		expect(fields).toEqual({ created: 1, usage, background: 'auto', request_id: 'r1' });
		const output = { results: [{ url: link }], task_status: 'SUCCEEDED' };
		expect(readImages(answerOf({ output, usage })).fields).toEqual({
			output: { task_status: 'SUCCEEDED' },
			usage,
		});
	});

	it.each([
		['that begins with data', 'Data: a chart, and a table'],
		['that is long', 'a long prompt '.repeat(300)],
		['that is a long link', 'https://a.example/p.png?sig='.padEnd(3000, 'a')],
	])('keeps a text %s in the fields', (_, text) => {
		const { images: pictures, fields } = readImages(
			answerOf({ data: [{ url: link, text }], note: text }),
		);
		expect([pictures[0].fields.text, fields.note]).toEqual([text, text]);
	});

	it('removes image data from the fields wherever the response repeats it', () => {
		const large = Buffer.alloc(3000, 'picture').toString('base64');
		const preview = `data:image/gif;base64,${base64}`;
		const entry = { b64_json: base64, url: preview, small: { preview, raw: large, size: 1 } };
		const { images: pictures, fields } = readImages(
			answerOf({ data: [entry], images: [{ b64: large }, preview], note: 'fine', preview }),
		);
		expect(pictures[0].fields).toEqual({ small: { size: 1 } });
		expect(fields).toEqual({ images: [{}], note: 'fine' });
	});

	it('resolves relative image links against the address of the response', () => {
		const data = [{ url: '/files/1.png?a=%2F' }, '//cdn.example/2.png'];
		const { images: pictures } = readImages(
			answerOf({ data }, { url: 'https://gateway.example/v1/images' }),
		);
		expect(pictures).toEqual([
			{
				url: 'https://gateway.example/files/1.png?a=%2F',
				fields: { url: 'https://gateway.example/files/1.png?a=%2F' },
			},
			{ url: 'https://cdn.example/2.png', fields: { url: 'https://cdn.example/2.png' } },
		]);
	});

	it.each([
		'data:image/svg+xml;utf8,<svg width="100%"><text>a+b&c ü</text></svg>',
		'data:image/svg+xml,%3Csvg width="100%"%3E%3Ctext%3Ea+b%26c %C3%BC%3C/text%3E%3C/svg%3E',
	])('reads an SVG image from the text of a data URL: %s', (url) => {
		const [{ bytes }] = readImages(answerOf({ data: [{ url }] })).images;
		expect(bytes?.toString()).toBe('<svg width="100%"><text>a+b&c ü</text></svg>');
	});

	it('percent-encodes a space in the link to an image', () => {
		const [{ url, fields }] = readImages(answerOf({ data: [{ url: `${link} 2` }] })).images;
		expect([url, fields.url]).toEqual([`${link}%202`, `${link}%202`]);
	});

	it('returns the entries that came instead of missing images', () => {
		const refused = { url: null, error: { message: 'Out of paint' } };
		const body = { data: [{ url: link }, refused, { url: 'a.png' }] };
		expect(readImages(answerOf(body)).missing).toEqual([refused, { url: 'a.png' }]);
		const text = `![a](${link}) ![b](b.png)`;
		expect(readChatImages(answerOf(chat(text))).missing).toEqual(['b.png']);
	});

	it.each([
		['https://cdn.example.com/f?id=7\n', ['https://cdn.example.com/f?id=7']],
		[
			'Here: https://a.example/1.png and (https://a.example/2.JPG?sig=x).',
			['https://a.example/1.png', 'https://a.example/2.JPG?sig=x'],
		],
		['https://a.example/1.png is ready', ['https://a.example/1.png']],
		['![a](https://a.example/1.png) see https://a.example/2.png', ['https://a.example/1.png']],
	])('finds bare links to images only when the chat has no Markdown image: %j', (text, links) => {
		const { images: pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map(({ url }) => url)).toEqual(links);
	});

	it.each<[string, string, string[]]>([
		['a full stop', `Your image is at ${png}.`, [png]],
		['other marks', `Here: ${png}, or **${png}**!`, [png, png]],
		['full-width marks', `图片：${png}，请查看。另见（${png}）`, [png, png]],
		['a full stop alone', 'https://a.example/f?id=7.', ['https://a.example/f?id=7']],
		['angle brackets', `Here: <${png}>`, [png]],
		['angle brackets alone', '<https://a.example/f?id=7>', ['https://a.example/f?id=7']],
		['bold marks alone', '**https://a.example/f?id=7**', ['https://a.example/f?id=7']],
		[
			'its own round brackets',
			'See (https://a.example/a_(1).png).',
			['https://a.example/a_(1).png'],
		],
		['square brackets of a link', `[Download](${png}) it`, [png]],
		[
			'square brackets of a link with a space',
			'[Download](https://a.example/my cat.png).',
			['https://a.example/my%20cat.png'],
		],
		['quotes of JSON', `{"url":"${png}","n":1}`, [png]],
	])('finds a bare link to an image within %s', (_, text, links) => {
		const { images: pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map(({ url }) => url)).toEqual(links);
	});

	it.each<[string, string, string]>([
		['double quotes', `Here:\n<img alt="a > b" src="${png}" width=100>`, png],
		['single quotes', `<p><IMG class=x SRC = '${png}'/></p>`, png],
		['no quotes', `<img src=${png}>`, png],
		['no quotes and a slash', `<img src=${png}/>`, png],
		[
			'entities',
			'<img\nsrc="https://a.example/f?a=1&amp;b=2&#38;c">',
			'https://a.example/f?a=1&b=2&c',
		],
		['another link beside it', `<a href="https://a.example/0.png"><img src="${png}"></a>`, png],
	])('finds an image in HTML with %s', (_, text, url) => {
		const { images: pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map((picture) => picture.url)).toEqual([url]);
	});

	it.each([
		`[Page](https://a.example/0.png) ![a](${png}) <img src="https://a.example/2.png">`,
		`![a][1] https://a.example/0.png\n\n[1]: ${png}\n`,
		`<img src="${png}"> https://a.example/0.png`,
		`<img data-src="https://a.example/0.png" src="${png}">`,
	])('takes only the image that the text marks as one: %j', (text) => {
		const { images: pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map(({ url }) => url)).toEqual([png]);
	});

	it.each([
		'https://a.example/page',
		'See https://a.example/docs.html.',
		'a <img alt="x"> b',
		'x'.repeat(90),
	])('finds no image in the text %j', (text) => {
		const sentence = `Look: ${text}`;
		expect(() => readChatImages(answerOf(chat(sentence)))).toThrow('only this text: Look: ');
	});

	it.each([
		{},
		{ data: [] },
		{ data: [{}] },
		{ data: [{ url: 'javascript:1' }] },
		[],
		'',
		'<html>',
	])('refuses %j because it has no image', (body) =>
		expect(() => readImages(answerOf(body))).toThrow(UnusableResponse),
	);
});

describe('the images of a chat', () => {
	it('finds the images of a chat in its text, in its parts and beside its content', () => {
		const part = (url: string) => ({ type: 'image_url', image_url: { url } });
		const content = [{ type: 'text', text: `Here: ![a](${link})` }, part('https://a.example/2')];
		const body = chat(content, { images: [part('https://a.example/3')] });
		const found = readChatImages(answerOf(body, { requestId: 'r1' }));
		expect(found.fields).toMatchObject({ ...body, request_id: 'r1' });
		for (const { fields } of found.images) {
			expect(fields).toMatchObject({ text: `Here: ![a](${link})`, finish_reason: 'stop' });
		}
		expect(found.images.map(({ url }) => url)).toEqual([
			link,
			'https://a.example/2',
			'https://a.example/3',
		]);
	});

	it('reads an image from a data URL in a chat, and shortens the URL in the text', () => {
		const url = `data:image/gif;base64,${pixel.toString('base64')}`;
		const [picture] = readChatImages(answerOf(chat(`![a](${url})`))).images;
		expect(Buffer.from(picture.bytes ?? [])).toEqual(pixel);
		expect(picture.fields).toEqual({ text: '![a](data:image)', finish_reason: 'stop' });
	});

	const data = `data:image/gif;base64,${pixel.toString('base64')}`;
	const wrapped = data.replace(/(,.{10}|.{9}$)/g, '$1\r\n ');
	it.each([
		[`![a](${wrapped})`, '![a](data:image)'],
		[`![a](\n${wrapped}\n"A title")`, '![a](\ndata:image\n"A title")'],
		[`![a](${data} 'A title')`, "![a](data:image 'A title')"],
		[`![a](<${data}>)`, '![a](data:image)'],
		[
			`![a](<${data}> (title)), then ![b](<${wrapped}>)!`,
			'![a](data:image (title)), then ![b](data:image)!',
		],
	])('reads images from data URLs in every form of Markdown in a chat: %j', (text, shown) => {
		const found = readChatImages(answerOf(chat(text)));
		for (const { bytes } of found.images) expect(bytes).toEqual(pixel);
		expect(found.images).toHaveLength(text.split('![').length - 1);
		const [{ fields }] = found.images;
		expect(String(fields.text).replace(/\s+/g, ' ')).toBe(shown.replace(/\s+/g, ' '));
	});

	const raw = pixel.toString('base64');
	const picture = Buffer.concat([pixel, Buffer.alloc(300, pixel)]);
	const long = picture.toString('base64');
	const lines = long.replace(/.{76}/g, '$&\r\n');
	it.each<[string, string, Buffer, string]>([
		['a data URL', data, pixel, 'data:image'],
		['a data URL in a sentence', `Here: ${data}. Enjoy!`, pixel, 'Here: data:image. Enjoy!'],
		['a data URL in a link', `[Download](${data})`, pixel, '[Download](data:image)'],
		[
			'a data URL in lines',
			`data:image/gif;base64,${lines}\nHere it is.`,
			picture,
			'data:image\nHere it is.',
		],
		['a data URL in HTML', `<img src="${data}" alt="">`, pixel, '<img src="data:image" alt="">'],
		['a data URL by reference', `![a][1]\n\n[1]: <${data}>`, pixel, '![a][1]\n\n[1]: data:image'],
		['base64', raw, pixel, 'data:image'],
		['base64 in lines', lines, picture, 'data:image'],
		['base64 in a sentence', `Here: ${long} - enjoy!`, picture, 'Here: data:image - enjoy!'],
		['base64 in a block of code', '```\n' + lines + '\n```', picture, '```\ndata:image\n```'],
		['base64 in JSON', JSON.stringify({ image: raw }), pixel, '{"image":"data:image"}'],
	])('reads an image from %s in a chat, and leaves it out of the text', (_, text, bytes, shown) => {
		const { images, fields } = readChatImages(answerOf(chat(text)));
		expect(images).toEqual([
			{ bytes, mimeType: images[0].mimeType, fields: { text: shown, finish_reason: 'stop' } },
		]);
		expect(fields.choices).toMatchObject([{ message: { content: shown } }]);
	});

	it('reads an SVG image from a bare data URL in a chat', () => {
		const svg = '<svg xmlns="x"><text>a b</text></svg>';
		for (const text of [svg, encodeURIComponent(svg)]) {
			const content = `Here: data:image/svg+xml;utf8,${text} and more`;
			const { images } = readChatImages(answerOf(chat(content)));
			expect(images.map(({ bytes, fields }) => [String(bytes), fields.text])).toEqual([
				[svg, 'Here: data:image and more'],
			]);
		}
	});

	it.each<[string, unknown, unknown[]]>([
		['image_url as a text', { type: 'image_url', image_url: link }, [link]],
		['output_image', { type: 'output_image', image_url: { url: link } }, [link]],
		['image with a url', { type: 'image', url: link }, [link]],
		[
			'image with a source that is a link',
			{ type: 'image', source: { type: 'url', url: link } },
			[link],
		],
		[
			'image with a source',
			{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: raw } },
			[pixel],
		],
		['image with b64_json', { type: 'image', b64_json: raw }, [pixel]],
		['image with base64 as its url', { type: 'output_image', url: raw }, [pixel]],
		['inline_data', { inline_data: { mime_type: 'image/gif', data: raw } }, [pixel]],
		['image_generation_call', { type: 'image_generation_call', result: raw }, [pixel]],
		[
			'text with a link beside an image',
			[
				{ type: 'text', text: `See ${png}` },
				{ type: 'image', b64_json: raw },
			],
			[pixel],
		],
	])('reads an image from a part of the content: %s', (_, content, expected) => {
		const { images, fields } = readChatImages(answerOf(chat([content].flat())));
		expect(images.map(({ url, bytes }) => url ?? bytes)).toEqual(expected);
		expect(JSON.stringify([fields, images.map((image) => image.fields)])).not.toContain(raw);
	});

	it('reads images beside the content that are links or base64', () => {
		const found = readChatImages(answerOf(chat(null, { images: [link, raw, data] })));
		expect(found.images.map(({ url, bytes }) => url ?? bytes)).toEqual([link, pixel, pixel]);
	});

	it('delivers the images of a chat that broke off, which are charged, and tells the error', () => {
		const error = { message: 'Overloaded' };
		const [choice] = chat(`![a](${link})`).choices;
		const found = readChatImages(answerOf({ choices: [choice, { message: {}, error }] }));
		expect(found).toMatchObject({ images: [{ url: link }], missing: [error] });
		const broken = { choices: [{ ...chat('I dr').choices[0], error }] };
		expect(() => readChatImages(answerOf(broken))).toThrow('broke off with an error: Overloaded');
	});

	it('tells the words of a refusal that came instead of an image', () => {
		const work = () => readChatImages(answerOf(chat(null, { refusal: 'I cannot draw that.' })));
		expect(work).toThrow('has no image, only this text: I cannot draw that.');
	});

	it('returns each image of a chat with the text and the finish_reason of its choice', () => {
		const [first] = chat(`![a](${link})`).choices;
		const second = {
			...chat('One: ![b](https://a.example/2)').choices[0],
			finish_reason: 'length',
		};
		const third = { ...chat('Sorry').choices[0], finish_reason: 'content_filter' };
		const found = readChatImages(answerOf({ choices: [first, second, third] }));
		expect(found.images.map(({ fields }) => fields)).toEqual([
			{ url: link, text: `![a](${link})`, finish_reason: 'stop' },
			{
				url: 'https://a.example/2',
				text: 'One: ![b](https://a.example/2)',
				finish_reason: 'length',
			},
		]);
		expect(found.finishReasons).toEqual(['stop', 'length', 'content_filter']);
	});

	it.each<[string, string | null, string]>([
		['content_filter', null, 'has no image: it was withheld by the content filter'],
		['content_filter', 'I', 'has no image: it was withheld by the content filter'],
		[
			'length',
			'Here: ![a](htt',
			'has no image (max_tokens reached: raise it, or leave it out), only this text: Here: ',
		],
		['length', '', 'has no image (max_tokens reached: raise it, or leave it out) and no text'],
		['stop', null, 'has no image and no text'],
	])('reports why a chat has no image: %s %j', (finish_reason, content, problem) => {
		const body = { choices: [{ ...chat(content).choices[0], finish_reason }] };
		expect(() => readChatImages(answerOf(body))).toThrow(problem);
	});

	it('reports the text of a chat that came instead of an image', () => {
		const text = 'I cannot draw that. ![a](a.png)';
		const work = () => readChatImages(answerOf(chat(text)));
		expect(work).toThrow(UnusableResponse);
		expect(work).toThrow(expect.objectContaining({ partialText: text }));
	});
});

describe('random responses to image requests', () => {
	const names = fc.constantFrom(
		...['data', 'images', 'output', 'results', 'url', 'image_url', 'b64_json', 'image_base64'],
		...['choices', 'message', 'content', 'text', 'type', '__proto__', 'toString'],
	);
	const leaves = fc.constantFrom(
		...[null, true, 0, 1e300, '', ' ', 'a', link, `![a](${link})`, 'data:;base64,AAAA', 'http://['],
	);
	const { json } = fc.letrec<{ json: unknown; object: unknown; array: unknown }>((tie) => ({
		json: fc.oneof({ maxDepth: 5 }, leaves, tie('object'), tie('array')),
		object: fc.dictionary(names, tie('json'), { maxKeys: 5 }),
		array: fc.array(tie('json'), { maxLength: 3 }),
	}));
	const bodies = fc.oneof(
		json,
		fc.array(json, { maxLength: 3 }).map((data) => ({ data })),
		json.map((content) => chat(content)),
		fc.tuple(json, json).map(([content, images]) => chat(content, { images })),
	);

	it.each<[string, typeof readImages]>([
		['readImages', readImages],
		['readChatImages', readChatImages],
	])('returns images or throws UnusableResponse for any response: %s', (_, parse) => {
		fc.assert(
			fc.property(bodies, (body) => {
				try {
					const found = parse(answerOf(body)).images;
					expect(found.length).toBeGreaterThan(0);
					for (const { url, bytes } of found) {
						expect(bytes ?? url).toBeDefined();
						if (url !== undefined) expect(url).toMatch(/^https?:/);
					}
				} catch (error) {
					expect(error).toBeInstanceOf(UnusableResponse);
				}
			}),
			{ numRuns: 500 },
		);
	});
});
