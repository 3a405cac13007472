// Runs in every test file: the key must not leak in any test.
import { existsSync, readFileSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { witness } from '../../../gateway/witness';

/** Shorter keys, such as `demo`, are words that ordinary texts contain. */
const shortestKey = 8;
const keys = new Set<string>();
const leaks: string[] = [];

const look = (where: string, text: string) => {
	for (const key of keys) {
		if (text.includes(key)) leaks.push(`${where} shows the key: ${excerptAround(text, key)}`);
	}
};

// The files of a process share the witness.
witness.removeAllListeners();

witness.on('key', (key) => {
	if (key.length >= shortestKey) keys.add(key);
});

witness.on('request', ({ url, headers, body, host }) => {
	const { authorization, ...others } = headers;
	look(`A request to ${host ?? 'a server'}`, JSON.stringify([url, others, body]));
	if (host === 'storage') look('A request to the storage', authorization ?? '');
});

witness.on('execution', (run) => {
	const seen = new Set<unknown>();
	const text = JSON.stringify(run, (_, value: unknown) => {
		if (typeof value !== 'object' || value === null) return value;
		if (seen.has(value)) return undefined;
		seen.add(value);
		return value;
	});
	look('An execution', text);
});

afterEach(() => {
	const found = leaks.splice(0);
	if (found.length > 0) throw new Error(found.join('\n'));
});

afterAll(() => {
	const log = path.join(process.env.N8N_USER_FOLDER ?? '', 'n8n.log');
	if (!existsSync(log)) return;
	look("n8n's log", readFileSync(log, 'utf8'));
	truncateSync(log);
	if (leaks.length > 0) throw new Error(leaks.join('\n'));
});

function excerptAround(text: string, key: string): string {
	const at = text.indexOf(key);
	return text.slice(Math.max(0, at - 100), at + key.length + 20);
}
