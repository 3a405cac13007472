import { startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { nodeFor, png, run, type Fields, type Operation } from '../support/nodes';

const { gateway } = withGateway({ draw: async () => png });

const make = async (name: Operation, parameters: Fields = {}, settings = {}) =>
	await run(gateway, nodeFor(name, parameters, settings));
const answers = (data: Fields[]) =>
	gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
const base64 = png.toString('base64');

it.each<[Operation, Fields]>([
	['image.generate', { binaryField: 'photo', options: { n: 2 } }],
	['image.edit', { binaryField: 'photo', options: { n: 2 } }],
	['image.chat', { binaryField: 'photo', options: { n: 2 } }],
])('downloads each image into the field that the user names: %s', async (name, parameters) => {
	const result = await make(name, parameters);
	const items = result.items('Node');
	expect(items).toHaveLength(2);
	for (const item of items) {
		expect(item.json.url).toContain(gateway.storageUrl);
		expect(item.binary?.photo).toMatchObject({ mimeType: 'image/png' });
		const file = await fetch(String(item.json.url));
		expect(await result.binary(item, 'photo')).toEqual(Buffer.from(await file.arrayBuffer()));
	}
});

it('makes files of base64 and of data URLs, and leaves these out of the fields', async () => {
	answers([{ b64_json: base64 }, { url: `data:image/png;base64,${base64}` }]);
	const result = await make('image.generate');
	const items = result.items('Node');
	expect(items.map(({ json }) => json.index)).toEqual([0, 1]);
	for (const item of items) {
		expect(await result.binary(item)).toEqual(png);
		expect(JSON.stringify(item.json)).not.toContain(base64);
	}
});

it('finds the image in the answer of a chat, and gives the text, too', async () => {
	const content = `Here: ![a boat](data:image/png;base64,${base64}) Enjoy!`;
	const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
	gateway.fault({ route: 'chat', action: 'answer', body: JSON.stringify({ choices }) });
	const result = await make('image.chat');
	const [item] = result.items('Node');
	expect(await result.binary(item)).toEqual(png);
	expect(item.json).toMatchObject({ finish_reason: 'stop', text: expect.stringMatching(/Enjoy!/) });
});

it('gives only the link when Download is off', async () => {
	const [{ json, binary }] = (await make('image.generate', { download: false })).items('Node');
	expect(json.url).toContain(gateway.storageUrl);
	expect(binary).toBeUndefined();
	expect(gateway.requests.map(({ host }) => host)).toEqual(['api']);
});

it('leaves the link, and a hint that says why, where an image is too large to download', async () => {
	const large = await startServer((response) => {
		response.writeHead(200, { 'content-length': 300_000_000 }).write(png);
	});
	answers([{ url: `${large.url}/large.png` }]);
	const result = await make('image.generate');
	expect(result.items('Node')).toMatchObject([{ json: { url: `${large.url}/large.png` } }]);
	expect(result.items('Node')[0].binary).toBeUndefined();
	expect(result.hintsOf('Node').join()).toMatch(/large\.png.*larger than/);
});

it('names a link in the answer of a chat that looks like an image and was not taken', async () => {
	const content = `![a boat](data:image/png;base64,${base64}) Sketch: https://a.example/sketch.png`;
	const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
	gateway.fault({ route: 'chat', action: 'answer', body: JSON.stringify({ choices }) });
	const result = await make('image.chat');
	expect(result.items('Node')).toHaveLength(1);
	expect(result.hintsOf('Node').join()).toContain('https://a.example/sketch.png');
});
