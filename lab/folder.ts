import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** Makes a folder, and removes it after use, even when this process exits before. */
export async function withFolder<Result>(
	name: string,
	use: (folder: string) => Promise<Result>,
): Promise<Result> {
	const folder = await mkdtemp(path.join(tmpdir(), `${name}-`));
	const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
	process.once('exit', remove);
	try {
		return await use(folder);
	} finally {
		process.off('exit', remove);
		remove();
	}
}
