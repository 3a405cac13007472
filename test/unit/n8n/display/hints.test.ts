import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../../../../nodes');

describe('a hint with the output of a node', () => {
	it('is shown by one function only, which shows texts of others as text', () => {
		const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
		const showing = files.filter(
			(name) =>
				name.endsWith('.ts') &&
				readFileSync(path.join(root, name), 'utf8').includes('.addExecutionHints('),
		);
		expect(showing).toEqual([path.join('shared', 'n8n', 'display', 'hints.ts')]);
	});
});
