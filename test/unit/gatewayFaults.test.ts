import type { AxiosInstance, AxiosResponse } from 'axios';
import { randomBytes } from 'node:crypto';
import { errorCodes } from '../../nodes/shared/gateway/protocol/errorCodes';
import { startGateway, type FaultAction, type Gateway } from '../gateway';
import { clientOf, download } from '../gateway/client';
import { pausesDuring } from '../support/pauses';

const video = randomBytes(300_000);

let gateway: Gateway;
let client: AxiosInstance;
let jobId: string;
let link: string;

beforeAll(async () => {
	gateway = await startGateway({ jobSeconds: Infinity });
	client = clientOf(gateway);
	jobId = (await create()).data.id;
	gateway.jobs.complete(jobId, video);
	link = (await client.get(`/v1/videos/${jobId}/content`)).data.url;
});
afterAll(async () => await gateway.close());

const create = async (): Promise<AxiosResponse> =>
	await client.post('/v1/videos', { model: 'vid-3.1', prompt: 'a cat' });
const query = async (): Promise<AxiosResponse> => await client.get(`/v1/videos/${jobId}`);

describe('which requests a fault hits', () => {
	const broken = { route: 'video', action: 'error', status: 500, code: 'upstream_error' } as const;
	const statuses = async (count: number): Promise<number[]> => {
		const answers: number[] = [];
		while (answers.length < count) answers.push((await query()).status);
		return answers;
	};

	it('one by default, of its route only', async () => {
		const fault = gateway.fault(broken);
		await client.get('/v1/models');
		expect(fault.hits).toBe(0);
		expect(await statuses(2)).toEqual([500, 200]);
		expect(fault.hits).toBe(1);
	});

	it('so many, after so many', async () => {
		gateway.fault({ ...broken, skip: 1, times: 2 });
		expect(await statuses(4)).toEqual([200, 500, 500, 200]);
	});

	it('those that it is for', async () => {
		const fault = gateway.fault({
			...broken,
			route: 'videoCreate',
			when: ({ body }) => (body as { prompt: string }).prompt.startsWith('a dog'),
		});
		expect((await create()).status).toBe(200);
		const dog = await client.post('/v1/videos', { model: 'vid-3.1', prompt: 'a dog' });
		expect([dog.status, fault.hits]).toEqual([500, 1]);
	});

	it('until it is removed, one fault after the other', async () => {
		const first = gateway.fault({ ...broken, times: Infinity });
		gateway.fault({ ...broken, status: 502 });
		expect(await statuses(2)).toEqual([500, 500]);
		first.remove();
		expect(await statuses(2)).toEqual([502, 200]);
	});
});

describe('an answer in place of the true one', () => {
	it.each(Object.keys(errorCodes))('the error %s', async (code) => {
		const headers = { 'retry-after': '7' };
		gateway.fault({ route: 'video', action: 'error', status: 429, code, headers });
		const answer = await query();
		expect([answer.status, answer.headers['retry-after']]).toEqual([429, '7']);
		expect(answer.data.error).toMatchObject({ code, param: null });
		expect(answer.headers).toHaveProperty('x-request-id');
	});

	it.each<[string, Extract<FaultAction, { action: 'answer' }>]>([
		[
			'a page',
			{
				action: 'answer',
				status: 502,
				headers: { 'content-type': 'text/html', 'x-request-id': undefined },
				body: '<h1>Bad Gateway</h1>',
			},
		],
		['nothing', { action: 'answer' }],
		['half a JSON', { action: 'answer', body: '{"id":"vid' }],
		['a redirect', { action: 'answer', status: 307, headers: { location: 'http://127.0.0.1:9/' } }],
	])('%s', async (_what, action) => {
		gateway.fault({ route: 'video', ...action });
		const answer = await client.get(`/v1/videos/${jobId}`, {
			maxRedirects: 0,
			responseType: 'text',
			transformResponse: (text: unknown) => text,
		});
		expect([answer.status, answer.data]).toEqual([action.status ?? 200, action.body ?? '']);
		for (const [name, value] of Object.entries(action.headers ?? {})) {
			expect(answer.headers[name]).toBe(value);
		}
	});

	it('comes before the check of the key', async () => {
		gateway.fault({ route: 'models', action: 'answer', status: 503 });
		expect((await clientOf(gateway, 'stranger').get('/v1/models')).status).toBe(503);
	});
});

describe('an answer that is lost', () => {
	const billedBy = async (action: FaultAction): Promise<number> => {
		const before = gateway.ledger.length;
		gateway.fault({ route: 'videoCreate', ...action });
		await expect(
			client.post('/v1/videos', { model: 'vid-3.1', prompt: 'a cat' }, { timeout: 200 }),
		).rejects.toMatchObject({ code: action.action === 'reset' ? 'ECONNRESET' : 'ECONNABORTED' });
		const request = gateway.requests.at(-1);
		expect(request?.status).toBeUndefined();
		expect(request?.jobId).toBe(gateway.ledger[before]?.job);
		return gateway.ledger.length - before;
	};

	it('without a job: reset, stalled', async () => {
		expect(await billedBy({ action: 'reset' })).toBe(0);
		expect(await billedBy({ action: 'stall' })).toBe(0);
	});

	it('with a job: reset, stalled', async () => {
		expect(await billedBy({ action: 'reset', accepted: true })).toBe(1);
		expect(await billedBy({ action: 'stall', accepted: true })).toBe(1);
	});

	it('with a job: replaced by that of a proxy', async () => {
		const before = gateway.ledger.length;
		gateway.fault({ route: 'videoCreate', action: 'answer', status: 504, accepted: true });
		const answer = await create();
		expect([answer.status, answer.data]).toEqual([504, '']);
		expect(gateway.ledger).toHaveLength(before + 1);
	});

	it('for a while', async () => {
		gateway.fault({ route: 'video', action: 'stall', seconds: 0.2 });
		const query200 = query().then(({ status }) => expect(status).toBe(200));
		expect(await pausesDuring(query200)).toContain(200);
	});
});

describe('a true answer that travels badly', () => {
	it.each(['gzip', 'br', 'deflate'] as const)('compressed by %s', async (encoding) => {
		gateway.fault({ route: 'video', action: 'encode', encoding });
		const answer = await client.get(`/v1/videos/${jobId}`, { decompress: false });
		expect(answer.headers['content-encoding']).toBe(encoding);
		expect(answer.data).not.toHaveProperty('id');

		gateway.fault({ route: 'download', action: 'encode', encoding });
		expect((await download(link)).data.equals(video)).toBe(true);
	});

	it('slowly', async () => {
		gateway.fault({ route: 'download', action: 'drip', bytesPerSecond: 600_000 });
		const whole = download(link).then(({ data }) => expect(data.equals(video)).toBe(true));
		const pauses = await pausesDuring(whole);
		expect(pauses.length).toBeGreaterThan(5);
		expect(pauses.reduce((sum, pause) => sum + pause)).toBeGreaterThan(490);
	});

	it.each([0, 10, 100_000, '40%'] as const)('cut after %s', async (after) => {
		gateway.fault({ route: 'download', action: 'cut', after });
		const response = await fetch(link);
		expect(response.headers.get('content-length')).toBe('300000');
		const pieces: Uint8Array[] = [];
		await expect(
			(async () => {
				for await (const piece of response.body ?? []) pieces.push(piece);
			})(),
		).rejects.toThrow('terminated');
		const kept = after === '40%' ? 120_000 : after;
		expect(Buffer.concat(pieces).equals(video.subarray(0, kept))).toBe(true);
	});

	it('frozen', async () => {
		gateway.fault({ route: 'download', action: 'freeze', after: '50%' });
		const response = await fetch(link, { signal: AbortSignal.timeout(300) });
		let bytes = 0;
		await expect(
			(async () => {
				for await (const piece of response.body ?? []) bytes += piece.length;
			})(),
		).rejects.toThrow('timeout');
		expect(bytes).toBe(150_000);
	});

	it('cut, for a text', async () => {
		gateway.fault({ route: 'video', action: 'cut', after: '50%' });
		await expect(query()).rejects.toThrow('aborted');
	});

	it('with a length that is too great, or too small', async () => {
		gateway.fault({ route: 'download', action: 'wrongLength', by: 5 });
		await expect(download(link)).rejects.toThrow('aborted');
		gateway.fault({ route: 'download', action: 'wrongLength', by: -5 });
		expect((await download(link)).data).toHaveLength(299_995);
	});

	it('with other headers', async () => {
		const headers = { 'content-type': 'text/plain', 'x-request-id': undefined };
		gateway.fault({ route: 'video', action: 'headers', headers });
		const answer = await query();
		expect(answer.headers['content-type']).toBe('text/plain');
		expect(answer.headers).not.toHaveProperty('x-request-id');
		expect(answer.data).toMatchObject({ id: jobId });
	});

	it('whole, when a part was asked for', async () => {
		gateway.fault({ route: 'download', action: 'ignoreRange' });
		const answer = await download(link, { range: 'bytes=5-' });
		expect([answer.status, answer.data.length]).toEqual([200, 300_000]);
		expect(gateway.requests.at(-1)?.headers.range).toBe('bytes=5-');
	});

	it('with another ETag', async () => {
		const etag = String((await download(link)).headers.etag);
		gateway.fault({ route: 'download', action: 'changeEtag', times: 2 });
		const whole = await download(link, { range: 'bytes=5-', 'if-range': etag });
		expect(whole.status).toBe(200);
		const part = await download(link, { range: 'bytes=5-' });
		expect([part.status, part.headers.etag]).toEqual([206, whole.headers.etag]);
		expect(part.headers.etag).not.toBe(etag);
	});
});
