import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../../..');
const docs = path.join(root, 'docs');

const pagesBut = (others: string[]) =>
	readdirSync(docs).filter((name) => name.endsWith('.md') && !others.includes(name));

/** Tests and measurements write these pages. */
const written = ['fields.md', 'versions.md'];
/** Looked up, not read: the index, the reference and the evidence. */
const lookedUp = [
	...written,
	...[
		'README.md',
		'operations.md',
		'troubleshooting.md',
		'monitoring.md',
		'reliability.md',
		'upgrades.md',
	],
];
/** For n8n's reviewers: looked up, too, and no page of a user. */
const review = 'verification.md';
/** Neither is the page for those who carry it on. */
const decisions = 'decisions.md';
const pages = pagesBut([...written, review, decisions]);
/** Read from the beginning, by people who want to get something done. */
const guides = pagesBut([...lookedUp, review, decisions]);

/** Counts words. Table borders do not count, and neither does what a measurement writes between comments. */
const countWords = (text: string) =>
	text
		.replace(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, '')
		.split(/\s+/)
		.filter((word) => /[\p{L}\d]/u.test(word)).length;

const wordsOf = (file: string) => countWords(readFileSync(file, 'utf8'));

const wordsOfAll = (names: string[]) =>
	names.reduce((sum, name) => sum + wordsOf(path.join(docs, name)), 0);

describe('the length of the documentation', () => {
	it('the README has fewer than 900 words', () => {
		expect(wordsOf(path.join(root, 'README.md'))).toBeLessThan(900);
	});

	it.each(pages)('the page %s has fewer than 2,400 words', (page) => {
		expect(wordsOf(path.join(docs, page))).toBeLessThan(2_400);
	});

	it.each(guides)('the guide %s has fewer than 1,000 words', (guide) => {
		expect(wordsOf(path.join(docs, guide))).toBeLessThan(1_000);
	});

	it("the page for n8n's reviewers has fewer than 1,200 words", () => {
		expect(wordsOf(path.join(docs, review))).toBeLessThan(1_200);
	});

	it('each entry of CHANGELOG.md has at most 300 words', () => {
		const [, ...entries] = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
		expect(entries.length).toBeGreaterThan(0);
		expect(Math.max(...entries.map(countWords))).toBeLessThanOrEqual(300);
	});

	it('all guides together have fewer than 9,000 words', () => {
		expect(wordsOfAll(guides)).toBeLessThan(9_000);
	});

	it('all pages together have fewer than 14,500 words', () => {
		expect(wordsOfAll(pages)).toBeLessThan(14_500);
	});
});
