import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { readChatImages, readImages } from '../../../../nodes/shared/gateway/images/responses';
import { answerOf } from '../../../support/data/answers';

const link = 'https://pictures.example/a_(1).png?sig=a%2Fb+c==&x=(y(z))';
const png = 'https://a.example/1.png';
const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');
const chat = (content: unknown, parts: object = {}) => ({
	model: 'm',
	choices: [{ index: 0, message: { role: 'assistant', content, ...parts }, finish_reason: 'stop' }],
});

describe('the images of a response', () => {
	const base64 = pixel.toString('base64');
	it.each<[string, object]>([
		['as b64_json', { b64_json: base64 }],
		['as b64_json with the start of a data URL', { b64_json: `data:image/gif;base64,${base64}` }],
		['as url', { url: `data:image/gif;base64,${base64}` }],
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

	it.each<[string, string, string[]]>([
		['full-width marks', `图片：${png}，请查看。另见（${png}）`, [png, png]],
		['angle brackets', `Here: <${png}>`, [png]],
	])('finds a bare link to an image within %s', (_, text, links) => {
		const { images: pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map(({ url }) => url)).toEqual(links);
	});

	it.each([
		`[Page](https://a.example/0.png) ![a](${png}) <img src="https://a.example/2.png">`,
		`![a][1] https://a.example/0.png\n\n[1]: ${png}\n`,
		`<img src="${png}"> https://a.example/0.png`,
	])('takes only the image that the text marks as one: %j', (text) => {
		const { images: pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map(({ url }) => url)).toEqual([png]);
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

	const data = `data:image/gif;base64,${pixel.toString('base64')}`;

	const raw = pixel.toString('base64');
	const picture = Buffer.concat([pixel, Buffer.alloc(300, pixel)]);
	const long = picture.toString('base64');
	const lines = long.replace(/.{76}/g, '$&\r\n');
	it.each<[string, string, Buffer, string]>([
		['a data URL', data, pixel, 'data:image'],
		[
			'a data URL in lines',
			`data:image/gif;base64,${lines}\nHere it is.`,
			picture,
			'data:image\nHere it is.',
		],
		['a data URL by reference', `![a][1]\n\n[1]: <${data}>`, pixel, '![a][1]\n\n[1]: data:image'],
		['base64', raw, pixel, 'data:image'],
		['base64 in a block of code', '```\n' + lines + '\n```', picture, '```\ndata:image\n```'],
	])('reads an image from %s in a chat, and leaves it out of the text', (_, text, bytes, shown) => {
		const { images, fields } = readChatImages(answerOf(chat(text)));
		expect(images).toEqual([
			{ bytes, mimeType: images[0].mimeType, fields: { text: shown, finish_reason: 'stop' } },
		]);
		expect(fields.choices).toMatchObject([{ message: { content: shown } }]);
	});

	it.each<[string, unknown, unknown[]]>([
		['image_url as a text', { type: 'image_url', image_url: link }, [link]],
		[
			'image with a source',
			{ type: 'image', source: { type: 'base64', media_type: 'image/gif', data: raw } },
			[pixel],
		],
		['image with b64_json', { type: 'image', b64_json: raw }, [pixel]],
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

	it('delivers the images of a chat that broke off, which are charged, and tells the error', () => {
		const error = { message: 'Overloaded' };
		const [choice] = chat(`![a](${link})`).choices;
		const found = readChatImages(answerOf({ choices: [choice, { message: {}, error }] }));
		expect(found).toMatchObject({ images: [{ url: link }], missing: [error] });
		const broken = { choices: [{ ...chat('I dr').choices[0], error }] };
		expect(() => readChatImages(answerOf(broken))).toThrow('broke off with an error: Overloaded');
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
		['content_filter', 'I', 'has no image: it was withheld by the content filter'],
		[
			'length',
			'Here: ![a](htt',
			'has no image (max_tokens reached: raise it, or leave it out), only this text: Here: ',
		],
		['stop', null, 'has no image and no text'],
	])('reports why a chat has no image: %s %j', (finish_reason, content, problem) => {
		const body = { choices: [{ ...chat(content).choices[0], finish_reason }] };
		expect(() => readChatImages(answerOf(body))).toThrow(problem);
	});
});
