import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import installation from '../../n8n/package.json';

const root = path.join(__dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

interface Service {
	image?: string;
	environment?: Record<string, string>;
}

const { n8n } = (parse(read('compose.yaml')) as { services: Record<'n8n', Service> }).services;

describe('compose.yaml', () => {
	it('follows the schema and the rules of a linter', async () => {
		const { DCLinter } = await import('dclint');
		const [result] = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] }).lintFiles(
			[path.join(root, 'compose.yaml')],
			false,
		);
		expect(result.messages).toEqual([]);
	});

	it('runs a version of n8n that the end-to-end tests know, and that loads this package', () => {
		const tested = [
			installation.dependencies.n8n,
			...readdirSync(path.join(root, 'test/n8n/versions')),
		];
		const [, version] = /^docker\.n8n\.io\/n8nio\/n8n:(.+)$/.exec(n8n.image ?? '') ?? [];
		expect(tested).toContain(version);
		// From version 3 on, n8n does not load the package without it.
		expect(n8n.environment).toHaveProperty('N8N_UNVERIFIED_PACKAGES_ENABLED', 'true');
	});
});
