import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { ModelGatewayApi } from '../../../credentials/ModelGatewayApi.credentials';
import { operations } from '../../../nodes/ModelGateway/resources';
import manifest from '../../../package.json';
import { read, root } from '../../support/files/repository';
import { altTextsOf, anchorsOf, brokenLinks, linksOf } from '../../support/pages/markdown';

const pages = globSync(
	['*.md', '{docs,docs/development,examples,gateway,lab,test,test/deep}/*.md'],
	{ cwd: root },
);

const isForDevelopers = (page: string) => path.dirname(page) === 'docs/development';

describe.each(pages)('%s', (page) => {
	it('each page has no broken link, and no picture that is missing or has no alternative text', () => {
		expect(brokenLinks(path.join(root, page))).toEqual([]);
		expect(altTextsOf(read(page))).not.toContain('');
	});

	it('each page names only npm scripts and test files that exist', () => {
		const commands = read(page).matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g);
		const named = [...commands].map(([, script, short]) => script ?? short);
		expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(named));

		const tests = read(page).match(/\btest\/[\w./*{},-]+\.ts\b/g) ?? [];
		expect(tests.filter((name) => globSync(name, { cwd: root }).length === 0)).toEqual([]);
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

const [helpPage, helpAnchor] = new ModelGatewayApi().documentationUrl.split('#');
// Those for n8n's reviewers and for developers are in the list of all pages only.
const forOthers = ['docs/verification.md', 'docs/decisions.md'];
const inDocs = pages.filter((page) => path.dirname(page) === 'docs' && !forOthers.includes(page));
const examples = readdirSync(path.join(root, 'examples')).filter((name) => name.endsWith('.json'));
const targetsIn = (page: string) => linksOf(read(page)).map((link) => link.split('#')[0]);

it.each([
	['README.md links to every guide', targetsIn('README.md'), inDocs],
	[
		"README.md has the section that the credential's help in n8n links to",
		[manifest.homepage.split('#')[0], ...anchorsOf(read('README.md'))],
		[helpPage, helpAnchor],
	],
	[
		'examples/README.md lists each example with a picture of its canvas',
		targetsIn('examples/README.md'),
		examples.flatMap((name) => [name, `../docs/pictures/examples/${path.parse(name).name}.jpg`]),
	],
])('%s', (_, has, wanted) => expect(has).toEqual(expect.arrayContaining(wanted)));

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

/** The pages for users, without those that tests write. */
const forUsers = inDocs.filter((page) => !/(fields|versions)\.md$/.test(page));
/** Looked up, not read: the index, the reference and the evidence. */
const lookedUp = /(README|operations|troubleshooting|monitoring|reliability|upgrades)\.md$/;
/** Read from the beginning, by people who want to get something done. */
const guides = forUsers.filter((page) => !lookedUp.test(page));

/** Counts words. Table borders do not count, and neither does what a measurement writes between comments. */
const countWords = (text: string) =>
	text
		.replace(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, '')
		.split(/\s+/)
		.filter((word) => /[\p{L}\d]/u.test(word)).length;

it.each<[what: string, most: number, counted: string[]]>([
	['README.md', 900, ['README.md']],
	['docs/verification.md', 1_200, ['docs/verification.md']],
	...forUsers.map((page): [string, number, string[]] => {
		return [page, guides.includes(page) ? 1_000 : 2_400, [page]];
	}),
	['all guides together', 9_000, guides],
	['all pages together', 14_500, forUsers],
])('%s: fewer than %i words', (_, most, counted) => {
	expect(countWords(counted.map(read).join('\n'))).toBeLessThan(most);
});

it('each entry of CHANGELOG.md has at most 300 words', () => {
	const [, ...entries] = read('CHANGELOG.md').split(/^## /m);
	expect(entries.length).toBeGreaterThan(0);
	expect(Math.max(...entries.map(countWords))).toBeLessThanOrEqual(300);
});
