/**
 * A playground for newcomers: a complete n8n with the package, and the embedded gateway.
 *
 * With `--n8n <url>`, the n8n is one that starts beside it with the package, and serves the files of the examples
 * (compose.yaml).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { startGateway, type Gateway } from '../../gateway';
import { drawPicture } from '../support/files/pictures';
import { packInto } from '../support/files/packed';
import { within } from '../support/time/until';
import { exampleFiles, readyExample } from './examples';
import { freePort, startN8n } from './n8n';
import { Owner, ownerAccount } from './owner';
import { withCredential } from '../support/workflows/workflows';
import { folderOfFiles } from '../support/workflows/examples';

/** The example to start with. */
const first = 'reference-video-to-file.json';

/** Its ports stay, because an n8n that starts again knows its addresses. */
const ports = { port: 8788, storagePort: 8789, backupPort: 8790 };

const print = (text = '') => process.stdout.write(`${text}\n`);

/** An n8n that the playground fills. */
interface Place {
	url: string;
	/** The folder into which n8n may write. */
	filesFolder: string;
	/** Ends the playground, and says what is left of it. */
	farewell: string;
}

async function main(): Promise<void> {
	const { values } = parseArgs({ options: { n8n: { type: 'string' } } });
	const stopped = new Promise<void>((resolve) => {
		for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
	});
	print('Starting n8n and the embedded gateway ...');
	await (values.n8n === undefined ? besideOwn(stopped) : beside(values.n8n, stopped));
}

/** Starts an n8n, and removes everything at the end. */
async function besideOwn(stopped: Promise<void>): Promise<void> {
	const folder = await mkdtemp(path.join(tmpdir(), 'playground-'));
	const filesFolder = path.join(folder, '.n8n-files');
	const gateway = await startGateway();
	const { tarball } = packInto(folder);
	const n8n = await startN8n({ folder, tarball, port: await freePort(5678) });
	const farewell = 'Ctrl-C stops everything and deletes its data.';
	try {
		await fill({ url: n8n.url, filesFolder, farewell }, gateway);
		await stopped;
		print('\nStopping ...');
	} finally {
		await n8n.stop();
		await gateway.close();
		await rm(folder, { recursive: true, force: true });
	}
}

/** Serves the gateway beside an n8n that somebody else starts, perhaps again with what it had. */
async function beside(url: string, stopped: Promise<void>): Promise<void> {
	const gateway = await startGateway(ports);
	const farewell = 'Ctrl-C stops everything. "docker compose down --volumes" deletes its data.';
	try {
		let isStopped = false;
		void stopped.then(() => (isStopped = true));
		const isReady = async () =>
			(await fetch(`${url}/rest/login`).catch(() => undefined))?.status === 401;
		// The first start of an n8n creates its database.
		if (!(await within(async () => isStopped || (await isReady()), 600))) {
			throw new Error(`${url} did not respond within ten minutes`);
		}
		if (isStopped) return;
		await fill({ url, filesFolder: folderOfFiles, farewell }, gateway);
		await stopped;
	} finally {
		await gateway.close();
	}
}

/** Gives n8n an owner, a credential and the examples, unless it has workflows, and says how to begin. */
async function fill({ url, filesFolder, farewell }: Place, gateway: Gateway): Promise<void> {
	const owner = await Owner.of({ url });
	const image = gateway.addMedia('woman.png', await drawPicture('woman'), 'image/png');
	// n8n lists the newest workflow first.
	const files = [...exampleFiles.filter((name) => name !== first), first];
	const examples = await Promise.all(
		files.map((file) => readyExample(file, { gateway, filesFolder })),
	);
	const workflows = await owner.request<unknown[]>('GET', '/workflows');
	if (workflows.length === 0) {
		const credential = await owner.createCredential(gateway);
		for (const example of examples) await owner.createWorkflow(withCredential(example, credential));
	}
	print(`
${pc.bold('n8n')}         ${url}/home/workflows
  sign in   ${ownerAccount.email} / ${ownerAccount.password}
${pc.bold('gateway')}     ${gateway.url}   (key: ${gateway.apiKey}; it costs nothing)
  an image  ${image}
${pc.bold('files')}       ${filesFolder}

It lists the ${exampleFiles.length} examples. Open the first one and press "Execute workflow".
${farewell}
`);
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The playground failed:')} ${error.message}\n`);
	process.exitCode = 1;
});
