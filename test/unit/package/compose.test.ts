import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import manifest from '../../../package.json';
import installation from '../../n8n/package.json';

const root = path.join(__dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const isThere = (file: string) => existsSync(path.join(root, file));

interface Service {
	image?: string;
	build?: { context: string; dockerfile: string };
	command?: string;
	environment?: Record<string, string>;
}

const { gateway, n8n } = (
	parse(read('compose.yaml')) as { services: Record<'gateway' | 'n8n', Service> }
).services;
const dockerfile = gateway.build?.dockerfile ?? '';
const script = gateway.command?.replace(/^sh /, '') ?? '';
const playground = 'test/n8n/playground.ts';

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

	it('builds and starts from files that exist', () => {
		const copied = [...read(dockerfile).matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, list]) =>
			list.split(' '),
		);
		const scripts = [...read(dockerfile).matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name);
		expect(
			[dockerfile, `${dockerfile}.dockerignore`, script, ...copied].filter(
				(file) => !isThere(file),
			),
		).toEqual([]);
		expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(scripts));
		expect(read(script)).toContain(`node_modules/.bin/tsx ${playground} `);
		expect(isThere(playground)).toBe(true);
	});
});
