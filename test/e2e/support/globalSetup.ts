import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { packInto } from '../../support/files/packed';
import { startN8n } from '../../n8n/n8n';
import { shared } from './shared';

/** One n8n for each worker of jest, with the packed package installed in it. */
export default async function setup({ maxWorkers }: { maxWorkers: number }): Promise<void> {
	// An interrupted run must not leave an n8n behind.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.once(signal, () => process.exit(1));
	}
	const folders = await Promise.all(
		Array.from({ length: maxWorkers }, async () => await mkdtemp(path.join(tmpdir(), 'n8n-'))),
	);
	const { tarball } = packInto(folders[0]);
	shared.publish(
		await Promise.all(folders.map(async (folder) => await startN8n({ tarball, folder }))),
	);
}
