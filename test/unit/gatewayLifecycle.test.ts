import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startGateway } from '../gateway';
import { clientOf, download, ended } from '../gateway/client';

const vid = { model: 'vid-3.1', prompt: 'a cat' };

const until = async (isTrue: () => boolean): Promise<void> => {
	while (!isTrue()) await setTimeout(10);
};

it('closes with open requests, downloads and jobs', async () => {
	const gateway = await startGateway({ jobSeconds: Infinity });
	const client = clientOf(gateway);
	const { data } = await client.post('/v1/videos', vid);
	await client.post('/v1/videos', vid);
	gateway.jobs.complete(data.id, Buffer.alloc(1000));
	const { url } = (await client.get(`/v1/videos/${data.id}/content`)).data;

	gateway.fault({ route: 'models', action: 'stall' });
	gateway.fault({ route: 'download', action: 'drip', bytesPerSecond: 10 });
	const lost = [client.get('/v1/models'), download(url)].map(
		async (answer) => await expect(answer).rejects.toThrow(/aborted|hang up/),
	);
	await until(() => gateway.requests.length === 5);
	await gateway.close();
	await Promise.all(lost);
	await expect(client.get('/v1/models')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
	await gateway.close();
});

it('renders a genuine mp4 unless told otherwise', async () => {
	const gateway = await startGateway({ jobSeconds: 0 });
	const { data } = await clientOf(gateway).post('/v1/videos', vid);
	const { video, error } = await ended(gateway, data.id);
	expect(error).toBeUndefined();
	expect(Buffer.from(video?.bytes ?? []).toString('latin1', 4, 8)).toBe('ftyp');
	await gateway.close();
});

describe('the command line', () => {
	const run = (...options: string[]): { child: ChildProcess; said: () => string } => {
		const child = spawn(process.execPath, [
			...['--require', require.resolve('tsx/cjs')],
			path.join(__dirname, '../gateway/main.ts'),
			...['--port', '0', '--backup-port', '0', '--storage-port', '0', ...options],
		]);
		let said = '';
		for (const output of [child.stdout, child.stderr]) {
			output.on('data', (piece: Buffer) => {
				said += piece.toString();
			});
		}
		return { child, said: () => said };
	};

	it('tells how to connect and what happens, and ends with Ctrl-C', async () => {
		const { child, said } = run('--job-seconds', '1000', '--key', 'first', '--key', 'second');
		await until(() => said().includes('Ctrl-C'));
		expect(said()).toMatch(/API Key +first/);

		const [url] = /http:\S+/.exec(said()) ?? [];
		const headers = { authorization: 'Bearer second', 'content-type': 'application/json' };
		const body = JSON.stringify(vid);
		await fetch(`${url}/v1/videos`, { method: 'POST', headers, body });
		await until(() => said().includes('POST /v1/videos'));
		expect(said()).toMatch(/job {2}video_\S+ {2}vid-3.1 {2}queued {2}0%/);

		// It ends by itself: a closed gateway leaves no server, connection, timer or worker.
		child.kill('SIGINT');
		expect(await once(child, 'exit')).toEqual([0, null]);
	});

	it('refuses a number that is none', async () => {
		const { child, said } = run('--job-seconds', 'soon');
		expect(await once(child, 'exit')).toEqual([1, null]);
		expect(said()).toContain('--job-seconds must be a number');
	});

	it('refuses a port that is taken', async () => {
		const gateway = await startGateway();
		const { child, said } = run('--port', new URL(gateway.url).port);
		expect(await once(child, 'exit')).toEqual([1, null]);
		expect(said()).toContain('EADDRINUSE');
		await gateway.close();
	});
});
