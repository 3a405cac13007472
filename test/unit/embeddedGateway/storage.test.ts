import { randomBytes } from 'node:crypto';
import { clientOf, download } from '../../../gateway/client';
import { served } from './served';

const video = randomBytes(300_000);
let link: string;
const at = served({ jobSeconds: Infinity });

beforeEach(async () => {
	const client = clientOf(at.gateway);
	const { data } = await client.post('/v1/videos', { model: 'vid-3.1', prompt: 'a cat' });
	at.gateway.jobs.complete(data.id, video);
	link = (await client.get(`/v1/videos/${data.id}/content`)).data.url;
});

describe('the storage host', () => {
	it('sends a part of a file only when If-Range matches its ETag', async () => {
		const etag = String((await download(link)).headers.etag);
		for (const [name, status] of [
			[etag, 206],
			['"other"', 200],
		] as const) {
			const part = await download(link, { range: 'bytes=5-', 'if-range': name });
			expect(part.status).toBe(status);
		}
	});

	it('refuses an Authorization header with 403', async () => {
		const { status, data } = await download(link, { authorization: 'Bearer any-key' });
		expect([status, data.toString()]).toEqual([403, expect.stringContaining('AccessDenied')]);
	});

	it.each([
		['without a signature', (url: string) => url.replace(/&signature=.*/, '')],
		['with a later expiry time', (url: string) => url.replace(/expires=\d/, 'expires=9')],
		['with another signature', (url: string) => url.replace(/signature=.{6}/, 'signature=AAAAAA')],
		['of another job', (url: string) => url.replace(/video_./, 'video_x')],
	])('refuses a link %s', async (_how, forge) => {
		expect((await download(forge(link))).status).toBe(403);
	});
});
