import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import manifest from '../../../package.json';

const root = path.join(__dirname, '../../..');
const home = manifest.homepage.replace(/#.*/, '');

/** Every place that repeats the repository, the version or the author, with what stands before the value. */
const places = [
	{
		file: 'credentials/ModelGatewayApi.credentials.ts',
		pattern: /(documentationUrl = ')[^'#]*/,
		value: home,
	},
	...manifest.n8n.nodes.map((file) => ({
		file: file.replace('dist/', '').replace('.node.js', '.node.json'),
		pattern: /("url": ")[^"]*(?=\/blob\/main\/)/,
		value: home,
	})),
	{
		file: 'docs/queue-mode.md',
		pattern: /("n8n-nodes-model-gateway","version":")[^"]*/,
		value: manifest.version,
	},
	{ file: 'LICENSE.md', pattern: /(Copyright \(c\) \d+ ).*/, value: manifest.author.name },
];

describe('what package.json says', () => {
	it('package.json names one repository', () => {
		expect(manifest.repository.url).toBe(`git+${home}.git`);
	});

	it.each(places)('$file repeats what package.json says', ({ file, pattern, value }) => {
		const name = path.join(root, file);
		const text = readFileSync(name, 'utf8');
		expect(text).toMatch(pattern);
		const wanted = text.replace(pattern, (_, before: string) => before + value);
		if (process.env.UPDATE_DOCS) writeFileSync(name, wanted);
		expect(readFileSync(name, 'utf8')).toBe(wanted);
	});

	it('no other file names the repository or the author: their values would be forgotten there', () => {
		const repository = home.replace('https://', '');
		const found = execFileSync(
			'git',
			['grep', '-lIF', '-e', repository, '-e', manifest.author.email],
			{ cwd: root, encoding: 'utf8' },
		);
		const known = ['package.json', ...places.map(({ file }) => file)];
		expect(
			found
				.trim()
				.split('\n')
				.filter((file) => !known.includes(file)),
		).toEqual([]);
	});
});
