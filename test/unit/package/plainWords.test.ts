import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { panelTexts, userTexts } from '../../support/pages/serviceStatements';

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

/** One word for one thing: the words to avoid, and the word to use instead. */
const words: ReadonlyArray<[not: RegExp, instead: string]> = [
	[/\banew\b|\bonce more\b/, 'again'],
	[/\braw answer\b|\banswer (?:is|was|got) lost\b|\blost answers?\b/, 'response, response lost'],
	[/\bno answer came\b|\bwithout an answer\b/, 'no response'],
	[/\bin doubt\b|\bambiguous\b/, 'unknown outcome'],
	[/\border(?:s|ed)? (?:goes|go|went) out\b/, 'place an order'],
	[/\bn8n(?: itself)? (?:ends|ended)\b|\bn8n's end\b|\bprocess(?:es)? ends?\b/, 'stops, is killed'],
	[/\bgoes on by itself\b|\bis taken up\b|\btakes it up\b/, 'resumes'],
	[/\b[Ff]org[eo]t\w* (?:the |an |its )?(?:order )?key/, 'release'],
	[/\bnobody can promise\b/, 'known limitations'],
	[/\b[Aa]sk a person\b/, 'human approval'],
	[/\bblotted\b/, 'redacted'],
	[/\bpaid twice\b/, 'charged twice'],
	[/\bstays like this\b|\bif it stays\b/, 'if this keeps happening'],
	[/\bShould (?:n8n|it|the)\b/, 'if'],
	[/\bIf the Answer Is Lost\b/, 'If No Response Arrives'],
	[/\bMost Orders per\b/, 'Max Orders per'],
];

describe('the wording of the texts for users', () => {
	const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
	const texts = [...userTexts(), ['CHANGELOG.md', changelog] as const];

	it.each(words)('no text for users matches %s', (not, instead) => {
		const found = texts
			.filter(([, text]) => not.test(text))
			.map(([place, text]) => {
				const at = text.search(not);
				return `${place}: …${text.slice(Math.max(0, at - 40), at + 40)}… (say: ${instead})`;
			});
		expect(found).toEqual([]);
	});
});
