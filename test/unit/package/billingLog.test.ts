import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.join(__dirname, '../../..');

/** The files that users read. */
const files = ['README.md', ...['docs', 'examples', 'nodes'].flatMap(textsBelow)];

function textsBelow(folder: string): string[] {
	return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => /\.(md|json|ts)$/.test(name))
		.map((name) => path.join(folder, name));
}

it('mentions the billing log in texts for users only together with what it cannot show', () => {
	const misleading = files.flatMap((name) =>
		(readFileSync(path.join(root, name), 'utf8').match(/[^.|\n]*billing log[^.|\n]*/gi) ?? [])
			.filter(
				(sentence) => !/lists only what was charged|proves nothing|never showed/.test(sentence),
			)
			.map((sentence) => `${name}: ${sentence.trim()}`),
	);
	expect(misleading).toEqual([]);
});
