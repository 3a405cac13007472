import { failureOf, key } from '../../../support/workflows/gatewayWorld';
import {
	answer,
	json,
	redirect,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../../support/http/scriptedServer';
import { publicUrl } from '../../../support/http/publicNames';
import { download, file, half, rangesOf, whole } from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

describe('expired links', () => {
	const fresh = '/fresh.mp4?sig=2';
	const expired: Reply = answer(403, '<Error><Code>AccessDenied</Code></Error>');
	/** The old link works for this many requests. */
	const serve =
		(count: number, before: Reply): Reply =>
		(response, request) => {
			const isOld = request.path !== fresh;
			const reply = isOld ? (count-- > 0 ? before : expired) : whole;
			reply(response, request);
		};
	const refreshed = async (reply: Reply) => {
		const server = await startServer(reply);
		const refresh = async () => ({ url: publicUrl(server.url) + fresh, authenticated: false });
		return { server, ...download(server, { refresh }) };
	};

	it.each([400, 401, 403, 404, 410])(
		'replaces a link that expired before the download: %d',
		async (status) => {
			const { done, server, passed } = await refreshed((response, request) => {
				(request.path === fresh ? whole : answer(status, ''))(response, request);
			});
			await expect(done).resolves.toBe(sha256(file));
			expect([server.requests.length, passed()]).toEqual([2, 0]);
		},
	);

	it('replaces a link that expires during the download, and resumes', async () => {
		const { done, server, stored } = await refreshed(serve(1, half()));
		await expect(done).resolves.toBe(sha256(file));
		expect(server.requests.map(({ path, headers }) => [path, headers.range])).toEqual([
			['/v.mp4?sig=1', undefined],
			['/v.mp4?sig=1', 'bytes=100000-'],
			[fresh, 'bytes=100000-'],
		]);
		expect(stored).toHaveLength(1);
	});

	it('replaces an expired link at most three times', async () => {
		const server = await startServer(expired);
		const { record } = await failureOf(download(server).done);
		expect(server.requests).toHaveLength(4);
		expect(record).toMatchObject({
			status: 403,
			raw_body: expect.stringContaining('AccessDenied'),
		});
	});
});

describe('the key', () => {
	it.each<[string, Reply, number]>([
		[
			'refusal',
			json({ error: { message: `Incorrect API key provided: Bearer ${key}` } }, 401),
			401,
		],
	])('redacts the key in a %s of the storage host', async (_, reply, status) => {
		const server = await startServer(reply);
		const { record } = await failureOf(download(server, { authenticated: true }).done);
		expect(record).toMatchObject({ status, raw_body: expect.stringContaining('Bearer ***') });
		expect(JSON.stringify(record)).not.toContain(key);
	});

	it.each([301, 302, 303, 307, 308])(
		'sends the key neither to a storage host nor to where it redirects (%d)',
		async (status) => {
			const second = await startServer(whole);
			const target = `${publicUrl(second.url)}/v.mp4?sig=a%2Fb`;
			const first = await startServer(redirect(status, target));
			await expect(download(first).done).resolves.toBe(sha256(file));
			for (const { headers } of [...first.requests, ...second.requests]) {
				expect(headers).not.toHaveProperty('authorization');
			}
			expect(second.requests[0].path).toBe('/v.mp4?sig=a%2Fb');
		},
	);

	const locked: Reply = (response, request) => {
		const isOpen = request.headers.authorization === `Bearer ${key}`;
		(isOpen ? whole : answer(401, ''))(response, request);
	};
	const keysSent = ({ requests }: ScriptedServer) =>
		requests.map(({ headers }) => headers.authorization);

	it("sends the key to the gateway once it refuses to serve a video's content without it", async () => {
		const gateway = await startServer(answer(401, ''), half(), locked);
		const downloading = download(gateway, { baseUrl: gateway.url, mayNeedKey: true });
		await expect(downloading.done).resolves.toBe(sha256(file));
		expect(keysSent(gateway)).toEqual([undefined, `Bearer ${key}`, `Bearer ${key}`]);
		expect(rangesOf(gateway)).toEqual([undefined, undefined, 'bytes=100000-']);
	});

	it.each([401, 403])(
		'does not send the key to another host that refuses to serve the file without it (%d)',
		async (status) => {
			const server = await startServer(answer(status, ''));
			await failureOf(download(server).done);
			expect(new Set(keysSent(server))).toEqual(new Set([undefined]));
		},
	);

	it('does not send the key to a link of the gateway that is refused with 403', async () => {
		const gateway = await startServer(answer(403, ''));
		await failureOf(download(gateway, { baseUrl: gateway.url, mayNeedKey: true }).done);
		expect(new Set(keysSent(gateway))).toEqual(new Set([undefined]));
	});

	it("does not send the key to a task's link, although it leads to the gateway", async () => {
		const gateway = await startServer(answer(401, ''));
		await failureOf(download(gateway, { baseUrl: gateway.url }).done);
		expect(new Set(keysSent(gateway))).toEqual(new Set([undefined]));
	});

	it('does not send the key when a redirect leaves the path of the base URL', async () => {
		const host = await startServer(redirect(302, '/other-team/v.mp4'), whole);
		const downloading = download(host, {
			...{ baseUrl: `${host.url}/gw`, path: '/gw/v.mp4', authenticated: true },
		});
		await expect(downloading.done).resolves.toBe(sha256(file));
		expect(keysSent(host)).toEqual([`Bearer ${key}`, undefined]);
	});

	it('sends the key to a gateway that serves the file, but not to a host it redirects to', async () => {
		const away = await startServer(whole);
		const gateway = await startServer(redirect(302, '/inside'), redirect(302, `${away.url}/v.mp4`));
		const downloading = download(gateway, { baseUrl: gateway.url, authenticated: true });
		await expect(downloading.done).resolves.toBe(sha256(file));
		const sent = [...gateway.requests, ...away.requests].map(
			({ headers }) => headers.authorization,
		);
		expect(sent).toEqual([`Bearer ${key}`, `Bearer ${key}`, undefined]);
	});

	it('does not send the key when a redirect leads back to the gateway from another host', async () => {
		const gateway = await startServer(
			(...exchange) => redirect(302, `${publicUrl(away.url)}/v.mp4`)(...exchange),
			whole,
		);
		const away = await startServer(redirect(302, `${publicUrl(gateway.url)}/back`));
		await expect(download(gateway, { authenticated: true }).done).resolves.toBe(sha256(file));
		const sent = gateway.requests.map(({ headers }) => headers.authorization);
		expect(sent).toEqual([`Bearer ${key}`, undefined]);
	});
});
