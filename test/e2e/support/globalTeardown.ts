import { rm } from 'node:fs/promises';
import { shared } from './shared';

/** Ends what globalSetup.ts has started, in the same process. */
export default async function teardown(): Promise<void> {
	for (const n8n of shared.running) {
		await n8n.stop();
		await rm(n8n.folder, { recursive: true, force: true });
	}
}
