import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.join(__dirname, '../../..');

/** Characters, 1 MB in `npm run test:deep`. A pattern that takes their square takes many seconds for these. */
const { hostileLength: length = 100_000 } = globalThis as { hostileLength?: number };

/** Milliseconds of this process for one text. A linear pattern takes one to a hundred. */
const limit = 400;

interface Pattern {
	/** File and line. */
	place: string;
	source: string;
	flags: string;
}

/** Every regular expression that is written as a literal in these folders. */
function patternsIn(folders: string[]): Pattern[] {
	const files = folders.flatMap((folder) =>
		readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
			.filter((file) => file.endsWith('.ts'))
			.map((file) => path.join(folder, file)),
	);
	return files.flatMap((file) => {
		const text = readFileSync(path.join(root, file), 'utf8');
		const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
		const patterns: Pattern[] = [];
		const visit = (node: ts.Node): void => {
			if (ts.isRegularExpressionLiteral(node)) {
				const end = node.text.lastIndexOf('/');
				const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
				patterns.push({
					place: `${file}:${line}`,
					source: node.text.slice(1, end),
					flags: node.text.slice(end + 1),
				});
			}
			ts.forEachChild(node, visit);
		};
		visit(source);
		return patterns;
	});
}

/** What makes many patterns try again and again: white space, digits, separators, and the words of the pattern. */
function repeatedIn({ source }: Pattern): string[] {
	const words = source
		.replace(/\\(?:x[\da-f]{2}|u[\da-f]{4}|[a-z])/gi, ' ')
		.match(/[a-z]+|[^\sa-z]/gi);
	const own = [...new Set(words)].flatMap((word) => [word, `${word} `, `${word}_`, `${word}1`]);
	const common = ['a', 'a ', '_', '1', '1.', ' ', '\n', '/', '.', '[1', '(', '"', '\ufffd', '\0'];
	return [...common, ...own, ...[...new Set(words)].map((word) => `http://${word}.`)];
}

/** Milliseconds that this process was at work, so that it does not count what other tests of the machine take. */
function milliseconds(work: () => void): number {
	const begin = process.cpuUsage();
	work();
	const { user } = process.cpuUsage(begin);
	return user / 1000;
}

/** Whether it is slow each time: one time may have met the collection of garbage. */
function isSlow(work: () => void): boolean {
	return [1, 2, 3].every(() => milliseconds(work) > limit);
}

describe('a regular expression', () => {
	const patterns = patternsIn(['nodes', 'credentials']);

	it('is found wherever it stands', () => {
		expect(patterns.length).toBeGreaterThan(100);
	});

	it.each(patterns)('takes linear time: $place /$source/', (pattern) => {
		const slow = repeatedIn(pattern).filter((repeated) => {
			const text = repeated.repeat(length / repeated.length);
			return ['', 'http://', '(data:image/png,'].some((before) =>
				isSlow(() => {
					`${before}${text}\u0001!`.replace(new RegExp(pattern.source, pattern.flags), '');
				}),
			);
		});
		expect(slow).toEqual([]);
	});
});
