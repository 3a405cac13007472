/** A playground for newcomers: a complete n8n with the package, and the embedded gateway. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pc from 'picocolors';
import { startGateway } from '../../gateway';
import { drawPicture } from '../support/files/pictures';
import { packInto } from '../support/files/packed';
import { exampleFiles, readyExample } from './examples';
import { freePort, startN8n } from './n8n';
import { Owner, ownerAccount } from './owner';
import { withCredential } from '../support/workflows/workflows';

/** The example to start with. */
const first = 'reference-video-to-file.json';

const print = (text = '') => process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
	const folder = await mkdtemp(path.join(tmpdir(), 'playground-'));
	const filesFolder = path.join(folder, '.n8n-files');
	const stopped = new Promise<void>((resolve) => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
	});

	print('Starting n8n and the embedded gateway ...');
	const gateway = await startGateway();
	const { tarball } = packInto(folder);
	const n8n = await startN8n({ folder, tarball, port: await freePort(5678) });
	try {
		const owner = await Owner.of(n8n);
		const credential = await owner.createCredential(gateway);
		const image = gateway.addMedia('woman.png', await drawPicture('woman'), 'image/png');
		// n8n lists the newest workflow first.
		for (const file of [...exampleFiles.filter((name) => name !== first), first]) {
			const example = await readyExample(file, { gateway, filesFolder });
			await owner.createWorkflow(withCredential(example, credential));
		}
		print(`
${pc.bold('n8n')}         ${n8n.url}/home/workflows
  sign in   ${ownerAccount.email} / ${ownerAccount.password}
${pc.bold('gateway')}     ${gateway.url}   (key: ${gateway.apiKey}; it costs nothing)
  an image  ${image}
${pc.bold('files')}       ${filesFolder}

It lists the ${exampleFiles.length} examples. Open the first one and press "Execute workflow".
Ctrl-C stops everything and deletes its data.
`);
		await stopped;
		print('\nStopping ...');
	} finally {
		await n8n.stop();
		await gateway.close();
		await rm(folder, { recursive: true, force: true });
	}
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The playground failed:')} ${error.message}\n`);
	process.exitCode = 1;
});
