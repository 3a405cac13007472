import type { IBinaryKeyData } from 'n8n-workflow';
import { mp4Of } from '../support/files/boxes';
import { jpegOf } from '../support/files/jpegs';
import { answer, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { fileOf, nodeFor, png, run, type Fields, type Operation } from '../support/nodes';

const { gateway } = withGateway({});

const video = mp4Of(5_000);

/** Downloads an image that its host declares as something else. */
const fetched = async (bytes: Uint8Array, contentType: string) => {
	const { url } = await startServer(answer(200, bytes, { 'content-type': contentType }));
	const body = JSON.stringify({ data: [{ url: `${url}/picture.bin` }] });
	gateway.fault({ route: 'imageGenerate', action: 'answer', body });
	return await run(gateway, nodeFor('image.generate'));
};

it('names an image by what its bytes are, whatever its host declares', async () => {
	const asText = await fetched(png, 'text/plain');
	expect(asText.items('Node')[0].binary?.data).toMatchObject({
		mimeType: 'image/png',
		fileExtension: 'png',
	});
	const asPng = await fetched(jpegOf('teal'), 'image/png');
	expect(asPng.items('Node')[0].binary?.data.mimeType).toBe('image/jpeg');
});

it('names a video by its job, and delivers it byte for byte', async () => {
	const { id } = earlierJob(gateway, 'video', video);
	const result = await run(gateway, nodeFor('video.getContent', { binaryField: 'clip' }), {
		input: [{ json: { id } }],
	});
	const [item] = result.items('Node');
	expect(item.binary?.clip).toMatchObject({ mimeType: 'video/mp4', fileName: `${id}.mp4` });
	expect(await result.binary(item, 'clip')).toEqual(video);
});

const images = { values: [{ source: 'binary', binaryField: 'data' }] };
const takers: Array<[Operation, Fields]> = [
	['image.edit', {}],
	['image.chat', { images }],
	['chat.complete', { messages: { values: [{ role: 'user', content: 'What is it?', images }] } }],
];

it.each(takers)(
	'refuses a file that surely is no image before it sends anything: %s',
	async (...of) => {
		const files: Array<[unknown, RegExp]> = [
			[null, /is no file/],
			[{}, /is no file/],
			[{ ...fileOf(png), id: 'filesystem-v2:lost' }, /cannot be read/],
			[Buffer.from('%PDF-1.7\n'), /PDF/],
			[Buffer.from('<!DOCTYPE html><html>'), /web page/],
			[video, /video/],
			[png.subarray(0, -20), /ends in the middle/],
			[Buffer.alloc(0), /empty/],
		];
		for (const [given, problem] of files) {
			const data = Buffer.isBuffer(given) ? fileOf(given, 'a.png', 'image/png') : given;
			const input = [{ json: {}, binary: { data } as IBinaryKeyData }];
			const result = await run(gateway, nodeFor(...of), { input });
			expect(result.errorOf('Node')?.message).toMatch(problem);
		}
		expect(gateway.requests).toEqual([]);
	},
);

it.each(takers)(
	'sends an image as what its bytes show, whatever its name is: %s',
	async (...of) => {
		// A Code node may leave out the type, which then counts as application/octet-stream.
		const binary = { data: fileOf(png, 'photo.dat', null as unknown as string) };
		await run(gateway, nodeFor(...of), { input: [{ json: {}, binary }] });
		const sent = JSON.stringify(gateway.requests[0].body);
		expect(sent).toContain('image/png');
		expect(sent).not.toContain('octet-stream');
	},
);

it('delivers what is no image all the same, because it is charged, and says so in a hint', async () => {
	const data = [{ b64_json: video.toString('base64') }];
	gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
	const result = await run(gateway, nodeFor('image.generate'));
	const [item] = result.items('Node');
	expect(item.binary?.data.mimeType).toBe('video/mp4');
	expect(await result.binary(item)).toEqual(video);
	expect(result.hintsOf('Node').join()).toMatch(/mp4 video, not an image/);
});
