import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ModelGatewayApi } from '../../../credentials/ModelGatewayApi.credentials';
import { operations } from '../../../nodes/ModelGateway/resources';
import manifest from '../../../package.json';
import { altTextsOf, anchorsOf, brokenLinks, linksOf } from '../../support/pages/markdown';

const root = path.join(__dirname, '../../..');
const read = (page: string) => readFileSync(path.join(root, page), 'utf8');

const pages = [
	'.',
	'docs',
	'docs/development',
	'examples',
	'gateway',
	'lab',
	'test',
	'test/deep',
].flatMap((folder) =>
	readdirSync(path.join(root, folder))
		.filter((name) => name.endsWith('.md'))
		.map((name) => path.join(folder, name)),
);

const isForDevelopers = (page: string) => path.dirname(page) === 'docs/development';

/** Expands the braces of a pattern, for example of `{jobs,client}/a*.test.ts`. */
function alternatives(pattern: string): string[] {
	const [braces, list] = /\{([^{}]*)\}/.exec(pattern) ?? [];
	if (braces === undefined) return [pattern];
	return list.split(',').flatMap((name) => alternatives(pattern.replace(braces, name)));
}

function isFile(pattern: string): boolean {
	const [before, after] = path.basename(pattern).split('*');
	return readdirSync(path.join(root, path.dirname(pattern))).some((name) =>
		after === undefined ? name === before : name.startsWith(before) && name.endsWith(after),
	);
}

describe.each(pages)('%s', (page) => {
	it('each page has no broken link, and no picture that is missing or has no alternative text', () => {
		expect(brokenLinks(path.join(root, page))).toEqual([]);
		expect(altTextsOf(read(page))).not.toContain('');
	});

	it('each page names only npm scripts and test files that exist', () => {
		const commands = read(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g);
		const named = [...commands].map(([, script, short]) => script ?? short);
		expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(named));

		const tests = read(page).match(/\btest\/[\w./*{},-]+\.(?:test|e2e)\.ts/g) ?? [];
		expect(tests.flatMap(alternatives).filter((name) => !isFile(name))).toEqual([]);
	});
});

it('the pages for developers name only source files that exist', () => {
	const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
	const others = ['AGENTS.md', 'CONTRIBUTING.md', 'docs/decisions.md'];
	const forDevelopers = [...others, ...pages.filter(isForDevelopers)];
	const named = forDevelopers
		.map(read)
		.join('\n')
		.matchAll(/`((?:[\w-]+\/)*[\w.-]+\.ts)`/g);
	const missing = [...named]
		.map(([, name]) => name)
		.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)));
	// A recipe adds the first one, and nobody the second.
	expect(missing).toEqual(['nodes/ModelGateway/resources/model/get.ts', 'utils.ts']);
});

it('README.md links to every guide', () => {
	// Those for n8n's reviewers and for developers are in the list of all pages only.
	const others = ['docs/verification.md', 'docs/decisions.md'];
	const guides = pages.filter((page) => path.dirname(page) === 'docs' && !others.includes(page));
	const linked = linksOf(read('README.md')).map((link) => link.split('#')[0]);
	expect(guides.filter((guide) => !linked.includes(guide))).toEqual([]);
});

it("README.md has the section that the credential's help in n8n links to", () => {
	const [page, anchor] = new ModelGatewayApi().documentationUrl.split('#');
	expect(page).toBe(manifest.homepage.split('#')[0]);
	expect(anchorsOf(read('README.md'))).toContain(anchor);
});

it('docs/operations.md has a row for each operation, in the order of the menus', () => {
	const rows = [...read('docs/operations.md').matchAll(/^\| (\w[\w ]*?) *\| (\w[\w ]*?) *\|/gm)];
	const [, ...named] = rows.map(([, resource, name]) => `${resource}: ${name}`);
	expect(named.slice(0, operations.length)).toEqual(
		operations.map(({ resource, name }) => `${resource.name}: ${name}`),
	);
});

it('AGENTS.md names for each of its ten invariants a test that keeps it, and fits on a screen', () => {
	const page = read('AGENTS.md');
	const invariants = page.split(/^(?=\d+\. )/m).slice(1);
	expect(invariants).toHaveLength(10);
	for (const invariant of invariants) expect(invariant).toMatch(/`test\/[^`]+\.test\.ts`/);
	expect(page.split('\n').length).toBeLessThan(50);
});

it('SECURITY.md says until when the minor version of package.json gets security fixes', () => {
	const [minor] = /^\d+\.\d+/.exec(manifest.version) ?? [];
	expect(read('SECURITY.md')).toMatch(new RegExp(`^\\| ${minor} .*\\|$`, 'm'));
});

it('SECURITY.md names for each sender a test that shows what it can cause', () => {
	const [, section] = read('SECURITY.md').split('## Who may write what');
	const [, , ...rows] = section.match(/^\|.*\|$/gm) ?? [];
	expect(rows.length).toBeGreaterThan(5);
	for (const row of rows) expect(row).toMatch(/\| `test\/[^|]+\.test\.ts` *\|$/);
});

it('examples/README.md lists each example with a picture of its canvas', () => {
	const files = readdirSync(path.join(root, 'examples')).filter((name) => name.endsWith('.json'));
	const pictures = files.map((name) => `../docs/pictures/examples/${path.parse(name).name}.jpg`);
	expect(linksOf(read('examples/README.md'))).toEqual(
		expect.arrayContaining([...files, ...pictures]),
	);
});
