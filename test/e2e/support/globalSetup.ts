import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startN8n } from './n8n';
import { shared } from './shared';
import { packInto } from '../../support/packed';

/** One n8n for all test files, with the packed package installed in it. */
export default async function setup(): Promise<void> {
	// A run that is broken off must not leave an n8n behind.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.once(signal, () => process.exit(1));
	}
	const folder = await mkdtemp(path.join(tmpdir(), 'n8n-'));
	const { tarball } = packInto(folder);
	const n8n = await startN8n({ tarball, folder });
	shared.publish(n8n);
}
