import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { cacheRoot } from './cache';
import { run } from './commands';

const manifests = ['package.json', 'package-lock.json'];

/**
 * Installs the npm packages of a folder's lockfile, and links them into the folder. They are kept outside the checkout,
 * in a folder named after the lockfile's hash, so that only the first run takes time for it.
 * @param name of that folder
 * @param finish what is left to do after npm
 */
export async function ensurePackages(
	folder: string,
	name: string,
	finish?: (draft: string) => Promise<unknown>,
): Promise<void> {
	const hash = createHash('sha256');
	for (const manifest of manifests) hash.update(await readFile(path.join(folder, manifest)));
	const target = path.join(cacheRoot, `${name}-${hash.digest('hex').slice(0, 16)}`);
	if (!existsSync(target)) await install(folder, target, finish);
	const link = path.join(folder, 'node_modules');
	await rm(link, { force: true });
	await symlink(path.join(target, 'node_modules'), link);
}

/** Installs next to the target and moves the result there at the end, so that the target is always complete. */
async function install(
	folder: string,
	target: string,
	finish?: (draft: string) => Promise<unknown>,
): Promise<void> {
	process.stderr.write(
		`Installing the packages of ${path.basename(folder)}, once. n8n takes about 5 minutes ...\n`,
	);
	const draft = `${target}.${randomUUID()}`;
	await mkdir(draft, { recursive: true });
	try {
		for (const name of manifests) await cp(path.join(folder, name), path.join(draft, name));
		const flags = [
			// n8n's packages have conflicting peer dependencies,
			'--legacy-peer-deps',
			// and warn a hundred times that Node.js is not the one that they will run on.
			'--loglevel=error',
			'--ignore-scripts',
			'--no-audit',
			'--no-fund',
		];
		await run('npm', ['ci', ...flags], { cwd: draft });
		await finish?.(draft);
		await rename(draft, target).catch((error: unknown) => {
			// Another run was faster.
			if (!existsSync(target)) throw error;
		});
	} finally {
		await rm(draft, { recursive: true, force: true });
	}
}
