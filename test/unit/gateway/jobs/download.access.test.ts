import { failureOf, key } from '../../../support/workflows/gatewayWorld';
import {
	answer,
	redirect,
	startServer,
	type Reply,
	type ScriptedServer,
} from '../../../support/http/scriptedServer';
import { publicUrl } from '../../../support/http/publicNames';
import { download, file, half, rangesOf, whole } from '../../../support/workflows/videoDownload';
import { sha256 } from '../../../support/data/sha256';

describe('a link that has expired', () => {
	const fresh = '/fresh.mp4?sig=2';

	it.each([400, 401, 403, 404, 410])('is replaced at once after HTTP %d', async (status) => {
		const server = await startServer((response, request) => {
			(request.path === fresh ? whole : answer(status, ''))(response, request);
		});
		const refresh = async () => ({ url: publicUrl(server.url) + fresh, authenticated: false });
		const { done, passed } = download(server, { refresh });
		await expect(done).resolves.toBe(sha256(file));
		expect([server.requests.length, passed()]).toEqual([2, 0]);
	});
});

describe('the key', () => {
	const bearer = `Bearer ${key}`;
	const keysSent = (...servers: ScriptedServer[]) =>
		servers.flatMap(({ requests }) => requests.map(({ headers }) => headers.authorization));

	it.each([301, 302, 303, 307, 308])(
		'goes neither to a storage host nor to where it redirects (%d)',
		async (status) => {
			const second = await startServer(whole);
			const first = await startServer(redirect(status, `${publicUrl(second.url)}/v.mp4?sig=a%2Fb`));
			await expect(download(first).done).resolves.toBe(sha256(file));
			expect(keysSent(first, second)).toEqual([undefined, undefined]);
			expect(second.requests[0].path).toBe('/v.mp4?sig=a%2Fb');
		},
	);

	it("goes to the gateway once it refuses to serve a video's content without it", async () => {
		const locked: Reply = (response, request) => {
			const isOpen = request.headers.authorization === bearer;
			(isOpen ? whole : answer(401, ''))(response, request);
		};
		const gateway = await startServer(answer(401, ''), half(), locked);
		const downloading = download(gateway, { baseUrl: gateway.url, mayNeedKey: true });
		await expect(downloading.done).resolves.toBe(sha256(file));
		expect(keysSent(gateway)).toEqual([undefined, bearer, bearer]);
		expect(rangesOf(gateway)).toEqual([undefined, undefined, 'bytes=100000-']);
	});

	it.each<[string, status: number, isOfGateway: boolean, mayNeedKey: true | undefined]>([
		['another host that asks for it', 401, false, true],
		['another host that refuses', 403, false, undefined],
		['a link of the gateway that is refused with 403', 403, true, true],
		["a task's link, although it leads to the gateway", 401, true, undefined],
	])('does not go to %s', async (_, status, isOfGateway, mayNeedKey) => {
		const server = await startServer(answer(status, ''));
		const baseUrl = isOfGateway ? server.url : undefined;
		await failureOf(download(server, { baseUrl, mayNeedKey }).done);
		expect(new Set(keysSent(server))).toEqual(new Set([undefined]));
	});

	it('goes with a redirect only as long as it stays below the base URL', async () => {
		const away = await startServer(whole);
		const gateway = await startServer(redirect(302, '/gw/in'), redirect(302, `${away.url}/v.mp4`));
		const settings = { baseUrl: `${gateway.url}/gw`, path: '/gw/v.mp4', authenticated: true };
		await expect(download(gateway, settings).done).resolves.toBe(sha256(file));
		expect(keysSent(gateway, away)).toEqual([bearer, bearer, undefined]);

		const host = await startServer(redirect(302, '/other-team/v.mp4'), whole);
		const leaving = { ...settings, baseUrl: `${host.url}/gw` };
		await expect(download(host, leaving).done).resolves.toBe(sha256(file));
		expect(keysSent(host)).toEqual([bearer, undefined]);
	});

	it('does not go with a redirect that leads back to the gateway from another host', async () => {
		const gateway = await startServer(
			(...exchange) => redirect(302, `${publicUrl(away.url)}/v.mp4`)(...exchange),
			whole,
		);
		const away = await startServer(redirect(302, `${publicUrl(gateway.url)}/back`));
		await expect(download(gateway, { authenticated: true }).done).resolves.toBe(sha256(file));
		expect(keysSent(gateway)).toEqual([bearer, undefined]);
	});
});
