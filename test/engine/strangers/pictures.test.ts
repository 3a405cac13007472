import { setTimeout as pause } from 'node:timers/promises';
import { retryExecution, storedFiles } from '../../harness';
import { answer, startServer, type Reply } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';
import { nodeFor, png, run as runNode } from '../../support/nodes';

const { gateway } = withGateway({});

/** Runs a node for this many items; the response to each has these images. */
const run = async (data: unknown[], items = 1) => {
	const body = JSON.stringify({ data });
	gateway.fault({ route: 'imageGenerate', action: 'answer', times: Infinity, body });
	const input = Array.from({ length: items }, () => ({ json: {} }));
	return await runNode(gateway, nodeFor('image.generate'), { input });
};
const linksTo = (url: string, count: number) =>
	Array.from({ length: count }, (_, index) => ({ url: `${url}/${index}.png` }));
const orders = () => gateway.requests.filter(({ route }) => route === 'imageGenerate').length;

it('downloads three images of a run at a time, whatever items they belong to', async () => {
	let most = 0;
	const underWay: Array<() => void> = [];
	const { url } = await startServer(async (response) => {
		underWay.push(() => response.end(png.subarray(99)));
		most = Math.max(most, underWay.length);
		response.write(png.subarray(0, 99));
		// Each three end together. The pause is for a fourth that should not come.
		if (underWay.length < 3) return;
		await pause(20);
		for (const end of underWay.splice(0)) end();
	});
	const result = await run(linksTo(url, 4), 3);
	const items = result.items('Node');
	expect(items).toHaveLength(12);
	for (const item of items) expect(await result.binary(item)).toEqual(png);
	expect(most).toBe(3);
});

it('streams an image into the files of n8n while it arrives', async () => {
	let stored = 0;
	const before = (await storedFiles()).length;
	const [head, rest] = [png.subarray(0, 33), png.subarray(33)];
	// A chunk of a PNG that no decoder needs, between its head and the rest.
	const ballast = Buffer.alloc(300_000);
	ballast.writeUInt32BE(ballast.length - 12);
	ballast.write('baLl', 4);
	const { url } = await startServer(async (response) => {
		response.write(Buffer.concat([head, ballast]));
		while (stored <= before) {
			await pause(10);
			stored = (await storedFiles()).length;
		}
		response.end(rest);
	});
	const result = await run(linksTo(url, 1));
	expect(await result.binary(result.items('Node')[0])).toEqual(
		Buffer.concat([head, ballast, rest]),
	);
	expect(stored).toBeGreaterThan(before);
});

const tooLarge: Reply = (response) =>
	void response.writeHead(200, { 'content-length': 300_000_000 }).write(png);

it('does not request an image that is too large again in a Retry', async () => {
	const server = await startServer((response, request) =>
		(request.path === '/0.png' ? tooLarge : answer(410, ''))(response, request),
	);
	const failed = await run(linksTo(server.url, 2));
	expect(failed.errorOf('Node')?.message).toContain('/1.png');
	await retryExecution(failed);
	expect(server.requests.map(({ path }) => path).sort()).toEqual(['/0.png', '/1.png', '/1.png']);
	expect(orders()).toBe(1);
});

it('downloads 100 images of a response, and gives the links of the others', async () => {
	const server = await startServer(answer(200, png));
	const result = await run(linksTo(server.url, 103));
	const items = result.items('Node');
	expect(items.map(({ json }) => json.url)).toEqual(linksTo(server.url, 103).map(({ url }) => url));
	expect(items.filter(({ binary }) => binary)).toHaveLength(100);
	expect(server.requests).toHaveLength(100);
	expect(result.hintsOf('Node')).toContain(
		'The response has 103 images, and the first 100 were downloaded. The others have only their link.',
	);
});
