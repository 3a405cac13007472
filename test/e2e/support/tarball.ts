import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from './commands';

const repository = path.resolve(__dirname, '../../..');

/** Packs the package as it is built, as npm would publish it. */
export async function pack(): Promise<string> {
	const folder = await mkdtemp(path.join(tmpdir(), 'package-'));
	const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
	const output = await run('npm', args, { cwd: repository, quiet: true });
	const [{ filename }] = JSON.parse(output) as Array<{ filename: string }>;
	return path.join(folder, filename);
}
