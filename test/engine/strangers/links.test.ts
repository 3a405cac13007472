import type { Gateway } from '../../../gateway';
import { runWorkflow, type WorkflowRun } from '../../harness';
import { publicUrl } from '../../support/http/publicNames';
import { answer, redirect, startServer } from '../../support/http/scriptedServer';
import { withGateway } from '../../support/http/withGateway';
import { earlierJob } from '../../support/workflows/earlierJobs';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	waitForVideo,
	type Node,
} from '../../support/workflows/workflows';

let gateway: Gateway;
withGateway({ isTimeSimulated: true }, (world) => void ({ gateway } = world));

/** Runs a node whose response has this link. */
type Follow = (link: string, url?: string) => Promise<WorkflowRun>;

const run = async (node: Node, url = gateway.url, json = {}) =>
	await runWorkflow(chain(node), {
		credentials: credentialFor(
			{ url, apiKey: gateway.apiKey },
			{ advanced: true, allowHttp: true },
		),
		input: [{ json }],
	});
const answering = (route: 'imageGenerate', body: object) =>
	gateway.fault({ route, action: 'answer', times: Infinity, body: JSON.stringify(body) });
const image = (operation: string) =>
	modelGateway(
		{ resource: 'image', operation, model: byId('image-1'), prompt: 'A boat' },
		{ name: 'Node' },
	);
const wait: Node = { ...waitForVideo(), name: 'Node' };

const ways: Record<string, Follow> = {
	'Image: Generate': async (link, url) => {
		answering('imageGenerate', { data: [{ url: link }] });
		return await run(image('generate'), url);
	},
	'a redirect of the content of a video job': async (link, url) => {
		const { id } = earlierJob(gateway, 'video', Buffer.alloc(9));
		gateway.fault({
			...{ route: 'videoContent', action: 'answer', times: Infinity },
			...{ status: 302, body: '', headers: { location: link } },
		});
		return await run(wait, url, { id });
	},
	'a redirect of a storage host': async (link, url = '') => {
		const storage = await startServer(redirect(302, link));
		const first = url.includes('127.0.0.1') ? storage.url : publicUrl(storage.url);
		return await ways['Image: Generate'](first, url);
	},
};

describe.each(Object.entries(ways))("a link into the user's network: %s", (_, follow) => {
	it.each([
		...['http://169.254.169.254/latest/meta-data', 'http://10.1.2.3:9000/a.png'],
		...['http://[fd00::1]/a.png', 'http://nas.local/a.png', 'http://metadata.google.internal/'],
	])('is not followed when only the gateway is on this machine: %s', async (link) => {
		const error = (await follow(link, gateway.url)).errorOf('Node');
		expect(error?.message).toContain(`inside your network (${new URL(link).host})`);
	});
});

it('quotes a storage host that anybody can reach', async () => {
	const storage = await startServer(answer(200, '<html>Sorry</html>'));
	const link = publicUrl(`${storage.url}/a.png`);
	const error = (await ways['Image: Generate'](link)).errorOf('Node');
	expect(error?.message).toContain('it is no image: ‹html>Sorry‹/html>');
});

it('follows a link to the gateway itself, whatever its network is', async () => {
	const error = (await ways['Image: Generate']('/v1/none.png')).errorOf('Node');
	expect(error?.message).toContain('HTTP 401, invalid_api_key');
	expect(gateway.requests.at(-1)).toMatchObject({ method: 'GET', url: '/v1/none.png' });
});
