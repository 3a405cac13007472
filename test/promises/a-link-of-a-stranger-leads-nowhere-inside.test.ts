import type { FaultHandle } from '../../gateway';
import { publicUrl } from '../support/http/publicNames';
import { answer, redirect, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { logLines } from '../support/workflows/log';
import { waitForVideo, type Node } from '../support/workflows/workflows';
import { nodeFor, png, run, type Fields } from '../support/nodes';

const secret = 'inside-secret-7';

const { gateway } = withGateway({ isTimeSimulated: true });

const answering = (route: 'imageGenerate' | 'chat' | 'task' | 'videoContent', body: Fields) =>
	gateway.fault({ route, action: 'answer', times: Infinity, body: JSON.stringify(body) });

/** Each kind of response that has a link: gives it this one, and runs the node that reads it. */
const ways: Record<string, (link: string) => [FaultHandle, Node, Fields?]> = {
	'an image': (url) => [answering('imageGenerate', { data: [{ url }] }), nodeFor('image.generate')],
	'an image in the answer of a chat': (url) => {
		const message = { role: 'assistant', content: `![a](${url})` };
		return [answering('chat', { choices: [{ message }] }), nodeFor('image.chat')];
	},
	'the result of a task': (url) => {
		const { id } = earlierJob(gateway, 'task', Buffer.alloc(9));
		const body = { task_id: id, status: 'completed', result_url: url };
		return [answering('task', body), waitForVideo({}, { name: 'Node' }), { task_id: id }];
	},
	'the content of a video': (url) => {
		const { id } = earlierJob(gateway, 'video', Buffer.alloc(9));
		return [answering('videoContent', { url }), nodeFor('video.getContent'), { id }];
	},
};
const follow = async (way: string, link: string, url: string) => {
	const [fault, node, json = {}] = ways[way](link);
	const credential = { advanced: true, allowHttp: true };
	const address = { url, apiKey: gateway.apiKey };
	const result = await run(address, node, { credential, input: [{ json }] });
	fault.remove();
	return result;
};

it.each(Object.keys(ways))('does not follow a link into the network of n8n: %s', async (way) => {
	const inside = await startServer(answer(200, png));
	for (const link of [`${inside.url}/a`, 'http://169.254.169.254/latest', 'http://10.1.2.3/a']) {
		// The gateway itself is public, so nothing inside is its own.
		const result = await follow(way, link, publicUrl(gateway.url, 'gateway'));
		expect(result.errorOf('Node')?.message).toMatch(/inside your network/);
		expect(result.errorOf('Node')?.context.data).toMatchObject({ billed: 'yes' });
	}
	expect(inside.requests).toEqual([]);
});

it.each(Object.keys(ways))(
	'does not follow a redirect into the network of n8n: %s',
	async (way) => {
		const inside = await startServer(answer(200, png));
		const outside = await startServer(redirect(302, `${inside.url}/a`));
		const link = publicUrl(`${outside.url}/a`, 'storage');
		const result = await follow(way, link, publicUrl(gateway.url, 'gateway'));
		expect(outside.requests.length).toBeGreaterThan(0);
		expect(result.errorOf('Node')?.message).toMatch(/inside your network/);
		expect(inside.requests).toEqual([]);
	},
);

it.each(Object.keys(ways))(
	'shows nothing of what a machine in its own network says: %s',
	async (way) => {
		const headers = { 'x-request-id': secret };
		const inside = await startServer(answer(403, `{"error":{"message":"${secret}"}}`, headers));
		const result = await follow(way, `${inside.url}/a`, gateway.url);
		expect(inside.requests.length).toBeGreaterThan(0);
		expect(result.status).toBe('error');
		expect(JSON.stringify([result.data, await logLines()])).not.toContain(secret);
	},
);

it('follows a public link', async () => {
	const storage = await startServer(answer(200, png));
	const link = publicUrl(`${storage.url}/a.png`, 'storage');
	const result = await follow('an image', link, publicUrl(gateway.url, 'gateway'));
	expect(await result.binary(result.items('Node')[0])).toEqual(png);
});
