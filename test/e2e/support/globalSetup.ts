import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { packInto } from '../../support/files/packed';
import { startN8n } from '../../n8n/n8n';
import { shared } from './shared';

/** One n8n for each worker of vitest, with the packed package installed in it. */
export async function setup({ config: { maxWorkers = 1 } }: TestProject): Promise<void> {
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

export async function teardown(): Promise<void> {
	for (const n8n of shared.running) {
		await n8n.stop();
		await rm(n8n.folder, { recursive: true, force: true });
	}
}
