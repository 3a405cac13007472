import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** n8n's database, in which executions are stored, and its logs. */
const kept = /\.(sqlite|sqlite-wal|log)$/;

/** @throws Error when n8n has stored the key, except encrypted in its credential */
export function expectNoKeyIn(folder: string, key: string): void {
	const files = readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && kept.test(entry.name))
		.filter(({ parentPath }) => !parentPath.includes('node_modules'))
		.map(({ parentPath, name }) => path.join(parentPath, name));
	const texts = files.map((file) => ({ file, text: readFileSync(file, 'latin1') }));
	// If no node is found either, the search could not find a key.
	const isReadable = texts.some(({ text }) => text.includes('n8n-nodes-model-gateway.'));
	if (!isReadable) throw new Error(`${folder} contains nothing readable`);
	for (const { file, text } of texts) {
		const at = text.indexOf(key);
		if (at >= 0) throw new Error(`${file} shows the key: ${text.slice(at - 100, at + 50)}`);
	}
}
