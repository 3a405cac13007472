import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const root = path.join(__dirname, '../../..');

/** Length of a text in characters; 1 MB in `npm run test:deep`. A quadratic pattern takes many seconds for it. */
const length = Number(process.env.HOSTILE_LENGTH ?? 100_000);

/** Milliseconds of CPU time. What takes fewer needs no second look. */
const limit = 20;

/** A part of the text, and how many times as long the whole may take: 8 times is linear, 64 times quadratic. */
const [share, growth] = [1 / 8, 24];

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

/** Texts that make many patterns backtrack: white space, digits, separators, and the words of the pattern. */
function repeatedIn({ source }: Pattern): string[] {
	const words = source
		.replace(/\\(?:x[\da-f]{2}|u[\da-f]{4}|[a-z])/gi, ' ')
		.match(/[a-z]+|[^\sa-z]/gi);
	const own = [...new Set(words)].flatMap((word) => [word, `${word} `, `${word}_`, `${word}1`]);
	const common = ['a', 'a ', '_', '1', '1.', ' ', '\n', '/', '.', '[1', '(', '"', '\ufffd', '\0'];
	return [...common, ...own, ...[...new Set(words)].map((word) => `http://${word}.`)];
}

/** Milliseconds of CPU time of this process, so that other tests on the machine do not count. */
function milliseconds(work: () => void): number {
	const begin = process.cpuUsage();
	work();
	const { user } = process.cpuUsage(begin);
	return user / 1000;
}

/** Whether the work grows faster than the text, every time. A single slow run may be a garbage collection. */
function isSlow(text: string, work: (text: string) => void): boolean {
	return [1, 2, 3].every(() => {
		const whole = milliseconds(() => work(text));
		if (whole < limit) return false;
		const part = milliseconds(() => work(text.slice(0, text.length * share)));
		return whole > growth * part;
	});
}

describe('regular expressions', () => {
	const patterns = patternsIn(['nodes', 'credentials']);

	it('finds more than 100 regular expressions in the sources', () => {
		expect(patterns.length).toBeGreaterThan(100);
	});

	it.each(patterns)('the pattern at $place takes linear time: /$source/', (pattern) => {
		const slow = repeatedIn(pattern).filter((repeated) => {
			const text = repeated.repeat(length / repeated.length);
			return ['', 'http://', '(data:image/png,'].some((before) =>
				isSlow(text, (part) => {
					`${before}${part}\u0001!`.replace(new RegExp(pattern.source, pattern.flags), '');
				}),
			);
		});
		expect(slow).toEqual([]);
	});
});
