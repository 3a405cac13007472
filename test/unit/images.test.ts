import { createCanvas, GifEncoder } from '@napi-rs/canvas';
import { UnusableResponse } from '../../nodes/shared/gateway/client/response';
import { hasSeveralFrames, imageType } from '../../nodes/shared/gateway/images/imageType';
import { markdownImages } from '../../nodes/shared/gateway/images/markdown';
import { readChatImages, readImages } from '../../nodes/shared/gateway/images/responses';
import { answerOf } from '../support/answers';
import { fc } from '../support/fuzz';
import { withPictures, withSegment } from '../support/jpegs';

const link = 'https://pictures.example/a_(1).png?sig=a%2Fb+c==&x=(y(z))';
const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');
const chat = (content: unknown, parts: object = {}) => ({
	model: 'm',
	choices: [{ index: 0, message: { role: 'assistant', content, ...parts }, finish_reason: 'stop' }],
});

describe('images in markdown', () => {
	it.each<[string, string, string[]]>([
		['alone', `![a](${link})`, [link]],
		['without a name', `![](${link})`, [link]],
		['with a title', `![a](${link} "A (title)")`, [link]],
		['in angle brackets', `![a](<${link}>)`, [link]],
		['in angle brackets, with a title', `![a](<${link}> 'title')`, [link]],
		['that are links', `[![a](${link})](https://page.example)`, [link]],
		['on several lines', `![a\nb](${link}\n"title")`, [link]],
		[
			'several of them',
			`1: ![a](https://a.example/1), 2: ![b](${link})`,
			['https://a.example/1', link],
		],
		['side by side', `![a](https://a.example/1)![b](${link})`, ['https://a.example/1', link]],
		[
			'behind one that is left open',
			`![a](https://a.example/1 ![b](${link})`,
			['https://a.example/1', link],
		],
		['not links', `[a](${link}) and (${link})`, []],
		['not what is left open', `![a](${link}`, []],
		['not what is empty', '![a]() ![b]', []],
	])('are found: %s', (_, text, addresses) => {
		expect(markdownImages(text)).toEqual(addresses);
	});

	it.each([
		'![Picture [1]](URL)',
		'![a [b [c]] d](URL)',
		'![[a](https://page.example)](URL)',
		'![a \\] b](URL)',
		'![a]( URL )',
		'![a](\n  URL\n)',
	])('are found in every form that markdown has: %j', (text) => {
		expect(markdownImages(text.replace('URL', link))).toContain(link);
	});

	it('are found in the midst of any text', () => {
		const piece = fc.string({
			unit: fc.constantFrom(...'aZ09-._~:/?#@!$&\'*+,;=%"'),
			minLength: 1,
		});
		const { path } = fc.letrec<{ path: string }>((tie) => ({
			path: fc.oneof(
				{ maxDepth: 3 },
				piece,
				fc.tuple(piece, tie('path'), piece).map(([a, b, c]) => `${a}(${b})${c}`),
			),
		}));
		const texts = fc.oneof(
			fc.string({ unit: 'grapheme' }),
			fc.string({ unit: fc.constantFrom('!', '[', ']', '(', ')', '<', '>', ' ', 'a', '![](') }),
		);
		const name = fc.string({ unit: fc.constantFrom('a', ' ', '!', '(', ')', '"', '<', '\n', 'ü') });
		const forms = fc.constantFrom(
			(url: string) => url,
			(url: string) => `<${url}>`,
			(url: string) => `${url} "title"`,
			(url: string) => `<${url}> (title)`,
		);
		const images = fc.tuple(texts, name, path, forms).map(([before, alt, rest, form]) => {
			const url = `https://a.example/${rest}`;
			return { url, text: `${before}![${alt}](${form(url)})` };
		});
		fc.assert(
			fc.property(fc.array(images, { maxLength: 3 }), texts, (found, after) => {
				const text = `${found.map((image) => image.text).join('')}${after}`;
				const urls = found.map(({ url }) => url);
				const addresses = markdownImages(text);
				expect(addresses).toEqual(expect.arrayContaining(urls));
				expect(addresses.filter((address) => urls.includes(address))).toEqual(urls);
			}),
			{ numRuns: 500 },
		);
	});
});

describe('the pictures of an answer', () => {
	const base64 = pixel.toString('base64');
	it.each<[string, unknown]>([
		['as specified', { data: [{ url: link }] }],
		['in a list of links', { data: [link] }],
		['in images', { images: [{ image_url: { url: link } }] }],
		['as a single one', { created: 7, data: { url: link } }],
		['as the answer itself', { created: 7, url: link }],
		['as a link in a list', { status: 'succeeded', output: [link] }],
		['as the output', { status: 'succeeded', output: link }],
		['in the images of an envelope', { code: 0, data: { images: [{ url: link }] } }],
		['in the results of a task', { output: { results: [{ url: ` ${link}\n` }] } }],
		['in data within data', { data: { data: [{ image_url: link }] } }],
		['beside nothing', { data: [null, {}, { url: '' }, { url: 'a.png' }, { url: link }] }],
		['beside an empty picture', { data: [{ b64_json: '', url: link }] }],
		['beside one without a byte', { data: [{ b64_json: '!!!' }, { url: link }] }],
		['beside an empty list', { data: [], images: [{ url: link }] }],
	])('are found: a link %s', (_, body) => {
		expect(readImages(answerOf(body)).pictures).toEqual([expect.objectContaining({ url: link })]);
	});

	it.each<[string, object]>([
		['as b64_json', { b64_json: base64 }],
		['as image_base64', { image_base64: base64 }],
		['as b64_json with a head', { b64_json: `data:image/gif;base64,${base64}` }],
		['as a link', { url: `data:image/gif;base64,${base64}` }],
		['as image_url', { image_url: { url: `data:image/gif;base64,${base64}` } }],
	])('are found: one that is in the answer %s, and not handed on twice', (_, entry) => {
		const body = { data: [{ ...entry, revised_prompt: 'a cat' }] };
		const [picture] = readImages(answerOf(body)).pictures;
		expect(Buffer.from(picture.bytes ?? [])).toEqual(pixel);
		expect(picture.fields).toMatchObject({ revised_prompt: 'a cat' });
		expect(JSON.stringify(picture.fields)).not.toContain(base64);
	});

	it('leave all other fields of the answer, without their list', () => {
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
	])('leave every text that is no file: one %s', (_, text) => {
		const { pictures, fields } = readImages(answerOf({ data: [{ url: link, text }], note: text }));
		expect([pictures[0].fields.text, fields.note]).toEqual([text, text]);
	});

	it('leave no file in the fields, wherever the answer has one more', () => {
		const large = Buffer.alloc(3000, 'picture').toString('base64');
		const preview = `data:image/gif;base64,${base64}`;
		const entry = { b64_json: base64, url: preview, small: { preview, raw: large, size: 1 } };
		const { pictures, fields } = readImages(
			answerOf({ data: [entry], images: [{ b64: large }, preview], note: 'fine', preview }),
		);
		expect(pictures[0].fields).toEqual({ small: { size: 1 } });
		expect(fields).toEqual({ images: [{}], note: 'fine' });
	});

	it('are resolved against the address of the answer, and are absolute for whoever comes next', () => {
		const data = [{ url: '/files/1.png?a=%2F' }, '//cdn.example/2.png'];
		const { pictures } = readImages(
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
	])('may be a drawing in words: %s', (url) => {
		const [{ bytes }] = readImages(answerOf({ data: [{ url }] })).pictures;
		expect(bytes?.toString()).toBe('<svg width="100%"><text>a+b&c ü</text></svg>');
	});

	it('are counted where they are missing', () => {
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
		['![a](https://a.example/1.png) see https://a.example/2.png', ['https://a.example/1.png']],
	])('are taken as bare links where the model writes no Markdown: %j', (text, links) => {
		const { pictures } = readChatImages(answerOf(chat(text)));
		expect(pictures.map(({ url }) => url)).toEqual(links);
	});

	it.each([
		{},
		{ data: [] },
		{ data: [{}] },
		{ data: [{ url: 'javascript:1' }] },
		[],
		'',
		'<html>',
	])('are missed in %j', (body) =>
		expect(() => readImages(answerOf(body))).toThrow(UnusableResponse),
	);
});

describe('the pictures of a chat', () => {
	it('come from its text, its parts and beside it', () => {
		const part = (url: string) => ({ type: 'image_url', image_url: { url } });
		const content = [{ type: 'text', text: `Here: ![a](${link})` }, part('https://a.example/2')];
		const body = chat(content, { images: [part('https://a.example/3')] });
		const found = readChatImages(answerOf(body, { requestId: 'r1' }));
		expect(found.fields).toMatchObject({ ...body, request_id: 'r1' });
		for (const { fields } of found.pictures) {
			expect(fields).toMatchObject({ text: `Here: ![a](${link})`, finish_reason: 'stop' });
		}
		expect(found.pictures.map(({ url }) => url)).toEqual([
			link,
			'https://a.example/2',
			'https://a.example/3',
		]);
	});

	it('may be in the text itself', () => {
		const url = `data:image/gif;base64,${pixel.toString('base64')}`;
		const [picture] = readChatImages(answerOf(chat(`![a](${url})`))).pictures;
		expect(Buffer.from(picture.bytes ?? [])).toEqual(pixel);
		expect(picture.fields).toEqual({ text: '![a](data:image)', finish_reason: 'stop' });
	});

	const data = `data:image/gif;base64,${pixel.toString('base64')}`;
	const wrapped = data.replace(/(,.{10}|.{9}$)/g, '$1\r\n ');
	it.each([
		[`![a](${wrapped})`, '![a](data:image)'],
		[`![a](\n${wrapped}\n"A title")`, '![a](data:image\n"A title")'],
		[`![a](${data} 'A title')`, "![a](data:image 'A title')"],
		[`![a](<${data}>)`, '![a](data:image)'],
		[
			`![a](<${data}> (title)), then ![b](<${wrapped}>)!`,
			'![a](data:image (title)), then ![b](data:image)!',
		],
	])('may be in the text in every form that markdown has: %j', (text, shown) => {
		const answer = readChatImages(answerOf(chat(text)));
		for (const { bytes } of answer.pictures) expect(bytes).toEqual(pixel);
		expect(answer.pictures).toHaveLength(text.split('![').length - 1);
		const [{ fields }] = answer.pictures;
		expect(String(fields.text).replace(/\s+/g, ' ')).toBe(shown.replace(/\s+/g, ' '));
	});

	it('have each the text of their own answer, and why it ended', () => {
		const [first] = chat(`![a](${link})`).choices;
		const second = {
			...chat('One: ![b](https://a.example/2)').choices[0],
			finish_reason: 'length',
		};
		const third = { ...chat('Sorry').choices[0], finish_reason: 'content_filter' };
		const found = readChatImages(answerOf({ choices: [first, second, third] }));
		expect(found.pictures.map(({ fields }) => fields)).toEqual([
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
	])('are missed with the reason for it: %s %j', (finish_reason, content, problem) => {
		const body = { choices: [{ ...chat(content).choices[0], finish_reason }] };
		expect(() => readChatImages(answerOf(body))).toThrow(problem);
	});

	it('are missed with the text that came instead', () => {
		const text = 'I cannot draw that. ![a](a.png)';
		const work = () => readChatImages(answerOf(chat(text)));
		expect(work).toThrow(UnusableResponse);
		expect(work).toThrow(expect.objectContaining({ partialText: text }));
	});
});

describe('any answer to a request for pictures', () => {
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
		['picturesOf', readImages],
		['chatPictures', readChatImages],
	])('gives a result or Unusable: %s', (_, parse) => {
		fc.assert(
			fc.property(bodies, (body) => {
				try {
					const found = parse(answerOf(body)).pictures;
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

// ── Real files ──────────────────────────────────────────────────────────────────────────────────

const canvas = createCanvas(64, 48);
const drawing = canvas.getContext('2d');
for (let x = 0; x < 64; x += 4) {
	drawing.fillStyle = `hsl(${x * 5}, 80%, 50%)`;
	drawing.fillRect(x, 0, 4, 48);
}
const png = canvas.toBuffer('image/png');
const jpeg = canvas.toBuffer('image/jpeg');
const webp = canvas.toBuffer('image/webp');
const avif = canvas.toBuffer('image/avif');

function gifOf(frames: number): Buffer {
	const encoder = new GifEncoder(64, 48);
	const { data } = drawing.getImageData(0, 0, 64, 48);
	for (let frame = 0; frame < frames; frame++) {
		encoder.addFrame(new Uint8Array(data), 64, 48, { delay: 100 });
	}
	return encoder.finish();
}

const uint32 = (value: number, isLittle = false) => {
	const bytes = Buffer.alloc(4);
	if (isLittle) bytes.writeUInt32LE(value);
	else bytes.writeUInt32BE(value);
	return bytes;
};

/** A PNG with further chunks behind its IHDR, which ends at byte 33. Nobody checks their sums here. */
function pngWith(...chunks: Array<[string, Buffer]>): Buffer {
	const made = chunks.map(([name, data]) =>
		Buffer.concat([uint32(data.length), Buffer.from(name), data, uint32(0)]),
	);
	return Buffer.concat([png.subarray(0, 33), ...made, png.subarray(33)]);
}

/** A WebP in its extended form. @param flags 0x02: animated, 0x20: with a colour profile */
function webpWith(flags: number, ...chunks: Array<[string, Buffer]>): Buffer {
	const made = [
		['VP8X', Buffer.from([flags, 0, 0, 0, 63, 0, 0, 47, 0, 0])] as const,
		...chunks,
	].map(([name, data]) => Buffer.concat([Buffer.from(name), uint32(data.length, true), data]));
	const body = Buffer.concat([Buffer.from('WEBP'), ...made, webp.subarray(12)]);
	return Buffer.concat([Buffer.from('RIFF'), uint32(body.length, true), body]);
}

const profile = Buffer.alloc(6000, 'profile ');
const animation = Buffer.alloc(6);
const actl = Buffer.concat([uint32(2), uint32(0)]);
const control = Buffer.from([0x21, 0xf9, 4, 0, 10, 0, 0, 0]);
const frame = pixel.subarray(pixel.indexOf(0x2c), -1);
const gifHead = pixel.subarray(0, pixel.indexOf(0x2c));
const gif = (...blocks: Buffer[]) => Buffer.concat([gifHead, ...blocks, Buffer.from(';')]);
const comment = (data: Buffer) =>
	Buffer.concat([Buffer.from([0x21, 0xfe, data.length]), data, Buffer.from([0])]);

describe('the type of a picture', () => {
	it.each<[string, Uint8Array, string, string]>([
		['PNG', png, 'png', 'image/png'],
		['JPEG', jpeg, 'jpg', 'image/jpeg'],
		['WebP', webp, 'webp', 'image/webp'],
		['AVIF', avif, 'avif', 'image/avif'],
		['GIF', gifOf(1), 'gif', 'image/gif'],
		['small GIF', pixel, 'gif', 'image/gif'],
		['TIFF', Buffer.from('II*\0\b\0\0\0', 'latin1'), 'tiff', 'image/tiff'],
		['SVG', Buffer.from('\n<svg xmlns="http://www.w3.org/2000/svg"/>'), 'svg', 'image/svg+xml'],
		['SVG with a head', Buffer.from('<?xml version="1.0"?>\n<svg/>'), 'svg', 'image/svg+xml'],
		['BMP', Buffer.from('BM6\0\0\0\0\0\0\0', 'latin1'), 'bmp', 'image/bmp'],
		...['heic', 'hevc', 'mif1'].map((brand): [string, Uint8Array, string, string] => [
			`HEIC by its brand ${brand}`,
			Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0`),
			'heic',
			'image/heic',
		]),
	])('is told by its bytes: %s', (_, bytes, extension, mimeType) => {
		expect(imageType(bytes)).toEqual({ extension, mimeType });
		const within = new Uint8Array(bytes.length + 7);
		within.set(bytes, 7);
		expect(imageType(within.subarray(7))).toEqual({ extension, mimeType });
	});

	it.each([
		'',
		'{"error":{}}',
		'<html>',
		'<!doctype html>',
		'RIFF....WAVE',
		'....ftypisom',
		'%PDF-',
		'<?xml version="1.0"?><Error/>',
		'BMW 320d, 2019',
	])('is unknown for %j', (text) => expect(imageType(Buffer.from(text))).toBeUndefined());
});

describe('the type that a picture came with', () => {
	const bytes = Buffer.from('\xff\x0a\x00\x10\x05', 'latin1');
	it('is taken where its bytes are of no known form', () => {
		expect(imageType(bytes, 'image/jxl; a=b')).toEqual({
			extension: 'jxl',
			mimeType: 'image/jxl',
		});
		expect(imageType(png, 'image/jxl')?.mimeType).toBe('image/png');
	});

	it.each<[string, Uint8Array]>([
		['text/html', bytes],
		['application/octet-stream', bytes],
		['image/png', Buffer.from('<html>Grüße</html>')],
		['image/png', Buffer.alloc(0)],
	])('is not taken: %s', (said, file) => expect(imageType(file, said)).toBeUndefined());
});

describe('a picture of several frames', () => {
	it.each<[string, Uint8Array]>([
		['GIF', gifOf(2)],
		['GIF by hand', gif(control, frame, control, frame)],
		['GIF without control blocks', gif(frame, frame)],
		['APNG', pngWith(['acTL', actl])],
		['APNG behind a colour profile', pngWith(['iCCP', profile], ['acTL', actl])],
		['WebP', webpWith(0x02, ['ANIM', animation])],
		['WebP behind a colour profile', webpWith(0x22, ['ICCP', profile], ['ANIM', animation])],
		['MPO', withPictures(jpeg)],
	])('is noticed: %s', (_, bytes) => {
		expect(hasSeveralFrames(bytes)).toBe(true);
		const within = new Uint8Array(bytes.length + 7);
		within.set(bytes, 7);
		expect(hasSeveralFrames(within.subarray(7))).toBe(true);
	});

	it.each<[string, Uint8Array]>([
		['PNG', png],
		['PNG with a colour profile', pngWith(['iCCP', profile])],
		['PNG that speaks of acTL', pngWith(['tEXt', Buffer.from('Comment\0has no acTL')])],
		['JPEG', jpeg],
		['JPEG with a colour profile', withSegment(jpeg, 0xe2, Buffer.from('ICC_PROFILE\0'))],
		['WebP', webp],
		['WebP with a colour profile', webpWith(0x20, ['ICCP', profile])],
		['AVIF', avif],
		['GIF', gifOf(1)],
		['small GIF', pixel],
		['GIF by hand', gif(control, frame)],
		['GIF with the bytes of a control block in its data', gif(control, comment(control), frame)],
		['text', Buffer.from('acTL ANIM MPF\0')],
		['file of nothing', Buffer.alloc(0)],
	])('is not one of one frame: %s', (_, bytes) => {
		expect(hasSeveralFrames(bytes)).toBe(false);
	});

	it('is a question that any bytes can answer', () => {
		const heads = fc.constantFrom(png, jpeg, webp, gifOf(2), pixel, Buffer.alloc(0));
		const files = fc
			.tuple(heads, fc.nat(200), fc.uint8Array())
			.map(([head, length, rest]) => Buffer.concat([head.subarray(0, length), rest]));
		fc.assert(
			fc.property(files, (bytes) => {
				expect(typeof hasSeveralFrames(bytes)).toBe('boolean');
			}),
		);
	});
});
