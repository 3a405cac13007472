import axios from 'axios';
import { randomBytes } from 'node:crypto';
import { startGateway, type Gateway } from '../gateway';
import { clientOf, download } from '../gateway/client';

const video = randomBytes(300_000);

let gateway: Gateway;
let link: string;
let time = Date.now();

beforeAll(async () => {
	gateway = await startGateway({ jobSeconds: Infinity, linkSeconds: 60, now: () => time });
});
afterAll(async () => await gateway.close());
beforeEach(async () => {
	const client = clientOf(gateway);
	const { data } = await client.post('/v1/videos', { model: 'vid-3.1', prompt: 'a cat' });
	gateway.jobs.complete(data.id, video);
	link = (await client.get(`/v1/videos/${data.id}/content`)).data.url;
});

const range = async (value: string, more: Record<string, string> = {}) =>
	await download(link, { range: value, ...more });

it('streams the whole file', async () => {
	const { status, headers, data } = await download(link);
	expect(status).toBe(200);
	expect(headers).toMatchObject({
		'content-length': '300000',
		'content-type': 'video/mp4',
		'accept-ranges': 'bytes',
		etag: expect.stringMatching(/^"[0-9a-f]{32}"$/),
		'x-request-id': expect.any(String),
	});
	expect(data.equals(video)).toBe(true);
});

it('answers HEAD without the file', async () => {
	const { status, headers, data } = await axios.head(link, { proxy: false });
	expect([status, headers['content-length'], data]).toEqual([200, '300000', '']);
});

it.each([
	['bytes=0-0', 0, 1],
	['bytes=100000-', 100_000, 300_000],
	['bytes=70000-140000', 70_000, 140_001],
	['bytes=299999-400000', 299_999, 300_000],
	['bytes=-500', 299_500, 300_000],
])('sends the part %s', async (value, start, end) => {
	const { status, headers, data } = await range(value);
	expect(status).toBe(206);
	expect(headers['content-range']).toBe(`bytes ${start}-${end - 1}/300000`);
	expect(headers['content-length']).toBe(String(end - start));
	expect(data.equals(video.subarray(start, end))).toBe(true);
});

it('refuses a part that the file does not have', async () => {
	const { status, headers, data } = await range('bytes=300000-');
	expect([status, headers['content-range']]).toEqual([416, 'bytes */300000']);
	expect(data.toString()).toContain('<Code>InvalidRange</Code>');
});

it('sends all for several parts, another unit, and an If-Range that does not hold', async () => {
	expect((await range('bytes=0-1,5-6')).status).toBe(200);
	expect((await range('lines=0-1')).status).toBe(200);
	expect((await range('bytes=5-', { 'if-range': '"other"' })).status).toBe(200);

	const etag = String((await download(link)).headers.etag);
	expect((await range('bytes=5-', { 'if-range': etag })).status).toBe(206);
});

it('refuses an Authorization header', async () => {
	const { status, headers, data } = await download(link, { authorization: 'Bearer any-key' });
	expect(status).toBe(403);
	expect(headers['content-type']).toContain('application/xml');
	expect(data.toString()).toContain('<Code>AccessDenied</Code>');
});

it('refuses a link that is expired', async () => {
	time += 59_999;
	expect((await download(link)).status).toBe(200);
	time += 1;
	const { status, data } = await download(link);
	expect(status).toBe(403);
	expect(data.toString()).toContain('expired');
});

it.each([
	['without a signature', (url: string) => url.replace(/&signature=.*/, '')],
	['with a later time', (url: string) => url.replace(/expires=\d/, 'expires=9')],
	['with another signature', (url: string) => url.replace(/signature=.{6}/, 'signature=AAAAAA')],
	['of another job', (url: string) => url.replace(/video_./, 'video_x')],
])('refuses a link %s', async (_how, forge) => {
	expect((await download(forge(link))).status).toBe(403);
});

it('has nothing else', async () => {
	const { status, data } = await download(`${gateway.storageUrl}/elsewhere`);
	expect(status).toBe(404);
	expect(data.toString()).toContain('<Code>NoSuchKey</Code>');
});

it('serves sample media to everybody', async () => {
	const url = gateway.addMedia('ä/b.txt', Buffer.from('hello'), 'text/plain');
	const { headers, data } = await download(url);
	expect([headers['content-type'], data.toString()]).toEqual(['text/plain', 'hello']);
});
