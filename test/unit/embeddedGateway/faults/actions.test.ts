import { randomBytes } from 'node:crypto';
import { download } from '../../../../gateway/client';
import { pausesDuring } from '../../../support/time/pauses';
import { served } from '../served';

const video = randomBytes(300_000);
const at = served({ jobSeconds: Infinity });
let job: string;
let link: string;

beforeAll(async () => {
	const { data } = await at.client.post('/v1/videos', { model: 'vid-3.1', prompt: 'a cat' });
	at.gateway.jobs.complete(data.id, video);
	job = `/v1/videos/${data.id}`;
	link = (await at.client.get(`${job}/content`)).data.url;
});

describe('faults of a response', () => {
	it.each(['gzip', 'br', 'deflate'] as const)('compresses a response with %s', async (encoding) => {
		at.gateway.fault({ route: 'video', action: 'encode', encoding });
		const response = await at.client.get(job, { decompress: false });
		expect(response.headers['content-encoding']).toBe(encoding);
		at.gateway.fault({ route: 'download', action: 'encode', encoding });
		expect((await download(link)).data.equals(video)).toBe(true);
	});

	it('sends a download at the given number of bytes per second', async () => {
		at.gateway.fault({ route: 'download', action: 'drip', bytesPerSecond: 600_000 });
		const whole = download(link);
		const pauses = await pausesDuring(whole);
		expect((await whole).data.equals(video)).toBe(true);
		expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(490);
	});

	it('changes the headers of a response and keeps its body', async () => {
		const headers = { 'content-type': 'text/plain', 'x-request-id': undefined };
		at.gateway.fault({ route: 'video', action: 'headers', headers });
		const response = await at.client.get(job);
		expect(response.headers['content-type']).toBe('text/plain');
		expect(response.headers).not.toHaveProperty('x-request-id');
		expect(response.data).toHaveProperty('id');
	});

	it('sends the whole file when only a part was requested', async () => {
		at.gateway.fault({ route: 'download', action: 'ignoreRange' });
		const { status, data } = await download(link, { range: 'bytes=5-' });
		expect([status, data.length]).toEqual([200, 300_000]);
	});

	it('changes the ETag of a file, so that If-Range gets the whole file', async () => {
		const etag = String((await download(link)).headers.etag);
		at.gateway.fault({ route: 'download', action: 'changeEtag' });
		const changed = await download(link, { range: 'bytes=5-', 'if-range': etag });
		expect(changed.status).toBe(200);
		expect(changed.headers.etag).not.toBe(etag);
	});
});
