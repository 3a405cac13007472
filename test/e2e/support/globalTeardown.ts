import { rm } from 'node:fs/promises';
import { shared } from './shared';

export default async function teardown(): Promise<void> {
	const n8n = shared.running;
	await n8n?.stop();
	if (n8n) await rm(n8n.folder, { recursive: true, force: true });
}
