import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';
import { n8nVersions } from '../../n8n/installation';
import { measured, readPassed, render, rows } from '../../n8n/versionTable';
import { read, root } from '../../support/files/repository';
import { fieldPage } from '../../support/pages/fieldPage';
import { fieldRows } from '../../support/pages/fieldRows';
import { drawingOfHouse } from '../../support/pages/house';
import { withSection } from '../../support/pages/markdown';

/** Replaces what stands behind the first group of the pattern. */
const withValue = (text: string, pattern: RegExp, value: string) => {
	expect(text).toMatch(pattern);
	return text.replace(pattern, (_, before: string) => before + value);
};
const home = manifest.homepage.replace(/#.*/, '');

/** "1.123, 2.40 and 2.41" for the versions of n8n that the tests know. */
const listOf = (versions: string[]) =>
	versions
		.map((version) => version.replace(/\.\d+$/, ''))
		.join(', ')
		.replace(/, (?=[^,]*$)/, ' and ');
const newest = n8nVersions[n8nVersions.length - 1];
const [, nodesOfCi = ''] = /\bnode: \[(.*)\]/.exec(read('.github/workflows/ci.yml')) ?? [];
const ofNewestMajor = n8nVersions.filter((version) => parseInt(version) === parseInt(newest));

/** The facts of package.json, in each file that repeats them. */
const repeating: Record<string, (text: string) => string> = {
	'credentials/ModelGatewayApi.credentials.ts': (text) =>
		withValue(text, /(documentationUrl = ')[^'#]*/, home),
	...Object.fromEntries(
		manifest.n8n.nodes.map((file) => [
			file.replace('dist/', '').replace('.node.js', '.node.json'),
			(text: string) => withValue(text, /("url": ")[^"]*(?=\/blob\/main\/)/, home),
		]),
	),
	'.github/CODEOWNERS': (text) => withValue(text, /(^\* )\S+/m, manifest.author.email),
	'.github/ISSUE_TEMPLATE/config.yml': (text) =>
		withValue(text, /(url: )\S*(?=\/security\/advisories\/new)/, home),
	'LICENSE.md': (text) => withValue(text, /(Copyright \(c\) \d+ ).*/, manifest.author.name),
};

/** A fact of the code, written into a page. */
const pages: Record<string, (text: string) => string> = {
	...repeating,
	'docs/queue-mode.md': (text) =>
		withValue(
			withValue(text, /("n8n-nodes-model-gateway","version":")[^"]*/, manifest.version),
			/(FROM n8nio\/n8n:)\S+/,
			newest,
		),
	'README.md': (text) => withValue(text, /(\[Tested with n8n )[^\]]*/, listOf(n8nVersions)),
	'examples/README.md': (text) =>
		withValue(text, /(need n8n \d+, and were tried with )[^:]*/, listOf(ofNewestMajor)),
	'.github/ISSUE_TEMPLATE/problem.yml': (text) =>
		withValue(text, /(placeholder: n8n ).*/, `${newest}, package ${manifest.version}`),
	// CI tests several versions of Node.js; the newest one develops.
	'.nvmrc': () => `${nodesOfCi.split(', ').at(-1)}\n`,
	'compose.yaml': (text) => withValue(text, /(image: docker\.n8n\.io\/n8nio\/n8n:).*/, newest),
	'docs/fields.md': () => fieldPage(fieldRows),
	'docs/versions.md': () => render(readPassed()),
	'docs/development/architecture.md': (text) => withSection(text, 'house', drawingOfHouse()),
};

it.each(Object.entries(pages))(
	'%s shows what the code says; UPDATE_DOCS=1 writes it again',
	(page, write) => {
		const wanted = write(read(page));
		if (process.env.UPDATE_DOCS) writeFileSync(path.join(root, page), wanted);
		expect(read(page)).toBe(wanted);
	},
);

it('the table of versions has a row for every file of end-to-end tests', () => {
	const files = readdirSync(path.join(root, 'test/e2e'))
		.filter((name) => name.endsWith('.e2e.ts'))
		.map((name) => name.replace('.e2e.ts', ''));
	expect([...new Set(rows.flatMap(({ shownBy }) => shownBy))].sort()).toEqual(
		[...files, ...measured].sort(),
	);
});

it('no other file names the repository or the author: their values would be forgotten there', () => {
	expect(manifest.repository.url).toBe(`git+${home}.git`);
	const named = ['-e', home.replace('https://', ''), '-e', manifest.author.email];
	const found = execFileSync('git', ['grep', '-lIF', ...named], { cwd: root, encoding: 'utf8' });
	const known = ['package.json', ...Object.keys(repeating)];
	expect(
		found
			.trim()
			.split('\n')
			.filter((file) => !known.includes(file)),
	).toEqual([]);
});
