import { serveAlibaba } from '../bench/peers/alibaba';
import { Tally } from '../bench/peers/tally';
import { startGateway, type Gateway } from '../gateway';

const video = Buffer.from('a video');

describe('the server of the comparison with other nodes', () => {
	let gateway: Gateway;
	let alibaba: Awaited<ReturnType<typeof serveAlibaba>>;

	beforeAll(async () => {
		gateway = await startGateway({ jobSeconds: 0, render: async () => video });
		alibaba = await serveAlibaba(gateway);
	});
	afterAll(async () => {
		await alibaba.close();
		await gateway.close();
	});

	const ask = async (path: string, body?: object) => {
		const request = body && {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify(body),
		};
		const answer = await fetch(`${alibaba.url}/api/v1${path}`, request);
		const { output } = (await answer.json()) as { output: Record<string, string> };
		return output;
	};

	it('makes a video by the paths of Alibaba Cloud, and counts what its client has sent', async () => {
		const tally = new Tally(gateway);
		const order = { model: 'wan2.6-t2v', input: { prompt: 'A boat' } };
		const path = '/services/aigc/video-generation/video-synthesis';
		const { task_id: id, task_status: first } = await ask(path, order);
		expect(first).toBe('PENDING');
		let polls = 0;
		let output: Record<string, string>;
		do {
			output = await ask(`/tasks/${id}`);
			polls++;
		} while (output.task_status !== 'SUCCEEDED');

		const file = await fetch(output.video_url);
		expect(Buffer.from(await file.arrayBuffer())).toEqual(video);
		// The order, the polls, and the download; not the link, which the adaptor asked for.
		expect(tally.take()).toMatchObject({ requests: polls + 2, polls, charges: 1, mostAtOnce: 1 });
		expect(tally.take()).toMatchObject({ requests: 0, polls: 0, charges: 0, mostAtOnce: 0 });
	});
});
