import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { panelTexts } from '../../support/pages/serviceStatements';

const root = path.join(__dirname, '../../..');
const docs = path.join(root, 'docs');

/** Tests and measurements write these pages. */
const written = ['fields.md', 'versions.md'];
const guides = readdirSync(docs).filter((name) => name.endsWith('.md') && !written.includes(name));

/** Counts words. Table borders do not count, and neither does what a measurement writes between comments. */
const wordsOf = (file: string) =>
	readFileSync(file, 'utf8')
		.replace(/<!-- (\w+) -->.*?<!-- end of \1 -->/gs, '')
		.split(/\s+/)
		.filter((word) => /[\p{L}\d]/u.test(word)).length;

describe('the length of the documentation', () => {
	it('the README has fewer than 900 words', () => {
		expect(wordsOf(path.join(root, 'README.md'))).toBeLessThan(900);
	});

	it.each(guides)('the guide %s has fewer than 2,400 words', (guide) => {
		expect(wordsOf(path.join(docs, guide))).toBeLessThan(2_400);
	});

	it('all guides together have fewer than 16,000 words', () => {
		const words = guides.map((guide) => wordsOf(path.join(docs, guide)));
		expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThan(16_000);
	});
});

describe('the texts of the panels', () => {
	const longerThan = (most: number, names: string[]) =>
		panelTexts()
			.filter(({ name }) => names.includes(name))
			.map(({ text }) => text.replace(/<[^>]*>/g, ''))
			.filter((text) => text.length > most);

	it('keeps notices and hints within two lines', () => {
		expect(longerThan(150, ['notice', 'hint', 'message'])).toEqual([]);
	});

	it('keeps descriptions short enough to be read at a glance', () => {
		expect(longerThan(250, ['description'])).toEqual([]);
	});
});
