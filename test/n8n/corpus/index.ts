import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cacheRoot } from '../cache';
import { run } from '../commands';
import { ensureCommands, ensurePackage } from '../debian';
import { libraries, packages, recipes, type Kind, type Recipe } from './recipes';

export type { Kind } from './recipes';

/** A file that a real tool made, or that is written byte by byte. */
export interface CorpusFile {
	name: string;
	kind: Kind;
	/** Its true MIME types, the usual one first. */
	types: Recipe['types'];
	/** The endings under which it is known. */
	endings: string[];
	bytes: Buffer;
}

/** All files. They are kept in a folder named after the hash of the recipes, so that only the first run makes them. */
export async function corpus(): Promise<CorpusFile[]> {
	const hash = createHash('sha256');
	for (const name of ['documents', 'edits', 'recipes']) {
		hash.update(readFileSync(path.join(__dirname, `${name}.ts`)));
	}
	const folder = path.join(cacheRoot, `corpus-${hash.digest('hex').slice(0, 16)}`);
	if (!existsSync(folder)) await makeAll(folder);
	return recipes.map(([name, { kind, types, endings = [path.extname(name).slice(1)] }]) => ({
		...{ name, kind, types, endings },
		bytes: readFileSync(path.join(folder, name)),
	}));
}

/** Makes the files next to the target and moves them there at the end, so that the target is always complete. */
async function makeAll(target: string): Promise<void> {
	await ensureCommands(packages);
	await ensureElements();
	const draft = `${target}.${randomUUID()}`;
	await mkdir(draft, { recursive: true });
	const made = (name: string) => readFileSync(path.join(draft, name));
	try {
		for (const [name, { make }] of recipes) {
			if (typeof make === 'string') {
				// A command ends where the name of the file follows: after a space, or after `PNG48:` or `location=`.
				const command = `${/[:=]$/.test(make) ? make : `${make} `}${name}`;
				await run('sh', ['-c', command], { cwd: draft, quiet: true });
			} else await writeFile(path.join(draft, name), make(made));
		}
		await rename(draft, target).catch((error: unknown) => {
			// Another run was faster.
			if (!existsSync(target)) throw error;
		});
	} finally {
		await rm(draft, { recursive: true, force: true });
	}
}

async function ensureElements(): Promise<void> {
	const elements = ['videotestsrc', 'vp8enc', 'webmmux'];
	const inspect = async (name: string) => await run('gst-inspect-1.0', [name], { quiet: true });
	await Promise.all(elements.map(inspect)).catch(async () => await ensurePackage(...libraries));
}
