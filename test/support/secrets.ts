// Runs in every test file: whatever a test is about, the key must not show in it.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { witness } from './witness';

/** Shorter ones are words of ordinary texts, such as `demo`. */
const shortestKey = 8;
const known = new Set<string>();
const leaks: string[] = [];

const look = (where: string, text: string, keys: string[]) => {
	for (const key of keys.filter(({ length }) => length >= shortestKey)) {
		known.add(key);
		if (text.includes(key))
			leaks.push(`${where} shows the key ${key}: ${excerptAround(text, key)}`);
	}
};

witness.on('request', ({ url, headers, body, host }, keys) => {
	const { authorization, ...others } = headers;
	look(`A request to ${host ?? 'a server'}`, JSON.stringify([url, others, body]), keys);
	if (host === 'storage') look('A request to the storage', authorization ?? '', keys);
});

witness.on('execution', (run, keys) => {
	const seen = new Set<unknown>();
	const text = JSON.stringify(run, (_, value: unknown) => {
		if (typeof value !== 'object' || value === null) return value;
		if (seen.has(value)) return undefined;
		seen.add(value);
		return value;
	});
	look('An execution', text, keys);
});

afterEach(() => {
	const found = leaks.splice(0);
	if (found.length > 0) throw new Error(found.join('\n'));
});

afterAll(() => {
	const log = path.join(process.env.N8N_USER_FOLDER ?? '', 'n8n.log');
	if (!existsSync(log)) return;
	look("n8n's log", readFileSync(log, 'utf8'), [...known]);
	if (leaks.length > 0) throw new Error(leaks.join('\n'));
});

function excerptAround(text: string, key: string): string {
	const at = text.indexOf(key);
	return text.slice(Math.max(0, at - 100), at + key.length + 20);
}
