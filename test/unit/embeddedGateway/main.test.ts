import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

describe('npm run gateway', () => {
	it('prints the address, the key and each request, and ends with Ctrl-C', async () => {
		const child = spawn(process.execPath, [
			...['--require', require.resolve('tsx/cjs'), path.join(__dirname, '../../gateway/main.ts')],
			...['--port', '0', '--backup-port', '0', '--storage-port', '0', '--job-seconds', '1000'],
			...['--key', 'first', '--key', 'second'],
		]);
		let said = '';
		child.stdout.on('data', (piece: Buffer) => (said += piece.toString()));
		const hear = async (text: string) => {
			while (!said.includes(text)) await setTimeout(10);
		};
		await hear('Ctrl-C');
		expect(said).toMatch(/API Key +first/);

		const [url] = /http:\S+/.exec(said) ?? [];
		const headers = { authorization: 'Bearer second', 'content-type': 'application/json' };
		const body = JSON.stringify({ model: 'vid-3.1', prompt: 'a cat' });
		await fetch(`${url}/v1/videos`, { method: 'POST', headers, body });
		await hear('POST /v1/videos');
		expect(said).toMatch(/job {2}video_\S+ {2}vid-3.1 {2}queued {2}0%/);

		// A closed gateway leaves no server, connection, timer or worker.
		child.kill('SIGINT');
		expect(await once(child, 'exit')).toEqual([0, null]);
	});
});
