import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../../..');
const docs = path.join(root, 'docs');

/** Tests and measurements write these pages. */
const written = ['fields.md', 'versions.md'];
/** Looked up, not read: the index, the reference and the evidence. */
const lookedUp = [
	'README',
	'operations',
	'troubleshooting',
	'monitoring',
	'reliability',
	'upgrades',
];
/** For n8n's reviewers, and for those who carry it on: no pages of a user. */
const forOthers = ['verification.md', 'decisions.md'];
const pages = readdirSync(docs).filter(
	(name) => name.endsWith('.md') && ![...written, ...forOthers].includes(name),
);
/** Read from the beginning, by people who want to get something done. */
const guides = pages.filter((name) => !lookedUp.includes(path.parse(name).name));

/** Counts words. Table borders do not count, and neither does what a measurement writes between comments. */
const countWords = (text: string) =>
	text
		.replace(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, '')
		.split(/\s+/)
		.filter((word) => /[\p{L}\d]/u.test(word)).length;

const wordsOf = (file: string) => countWords(readFileSync(path.join(root, file), 'utf8'));

it.each([
	['README.md', 900],
	['docs/verification.md', 1_200],
	...pages.map((page) => [`docs/${page}`, guides.includes(page) ? 1_000 : 2_400] as const),
] as const)('%s has fewer than %i words', (page, most) => {
	expect(wordsOf(page)).toBeLessThan(most);
});

it.each([
	['guides', guides, 9_000],
	['pages', pages, 14_500],
])('all %s together have fewer words than their limit', (_, names, most) => {
	expect(names.reduce((sum, name) => sum + wordsOf(`docs/${name}`), 0)).toBeLessThan(most);
});

it('each entry of CHANGELOG.md has at most 300 words', () => {
	const [, ...entries] = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
	expect(entries.length).toBeGreaterThan(0);
	expect(Math.max(...entries.map(countWords))).toBeLessThanOrEqual(300);
});
