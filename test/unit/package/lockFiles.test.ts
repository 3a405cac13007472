import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Locked {
	optionalDependencies?: Record<string, string>;
	resolved?: string;
}

const root = path.join(__dirname, '../../..');

const otherVersions = readdirSync(path.join(root, 'test/n8n/versions'));

const lockFiles = [
	'package-lock.json',
	'test/n8n/package-lock.json',
	'test/world/package-lock.json',
	...otherVersions.map((version) => `test/n8n/versions/${version}/package-lock.json`),
];

describe.each(lockFiles)('%s', (file) => {
	const { packages } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as {
		packages: Record<string, Locked>;
	};

	it('each lock file has every optional dependency, so that npm ci works on each platform', () => {
		const names = new Set(
			Object.keys(packages).map((place) => place.split('node_modules/').at(-1)),
		);
		const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
			Object.keys(optionalDependencies),
		);
		expect(wanted.filter((name) => !names.has(name))).toEqual([]);
	});

	it('each lock file contains no address of a registry', () => {
		expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
	});
});
