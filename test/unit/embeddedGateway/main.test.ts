import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

describe('npm run gateway', () => {
	it('npm run gateway prints its address, the key and each request, and exits on Ctrl-C', async () => {
		const child = spawn(process.execPath, [
			...['--require', require.resolve('tsx/cjs'), path.join(__dirname, '../../gateway/main.ts')],
			...['--port', '0', '--backup-port', '0', '--storage-port', '0', '--job-seconds', '1000'],
			...['--key', 'first', '--key', 'second'],
		]);
		let output = '';
		child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
		const waitFor = async (text: string) => {
			while (!output.includes(text)) await setTimeout(10);
		};
		await waitFor('Ctrl-C');
		expect(output).toMatch(/API Key +first/);

		const [url] = /http:\S+/.exec(output) ?? [];
		const headers = { authorization: 'Bearer second', 'content-type': 'application/json' };
		const body = JSON.stringify({ model: 'vid-3.1', prompt: 'a cat' });
		await fetch(`${url}/v1/videos`, { method: 'POST', headers, body });
		await waitFor('POST /v1/videos');
		expect(output).toMatch(/job {2}video_\S+ {2}vid-3.1 {2}queued {2}0%/);

		// The process exits only because a closed gateway leaves no server, connection, timer or worker.
		child.kill('SIGINT');
		expect(await once(child, 'exit')).toEqual([0, null]);
	});
});
