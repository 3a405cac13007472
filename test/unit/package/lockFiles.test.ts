import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Locked {
	optionalDependencies?: Record<string, string>;
	resolved?: string;
}

const root = path.join(__dirname, '../../..');

const lockedIn = (file: string) => {
	const { packages } = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as {
		packages: Record<string, Locked>;
	};
	return packages;
};

/** Where npm looks for a package that another one depends on. */
function placesOf(name: string, from: string): string[] {
	const folders = from.split(/(?:^|\/)node_modules\//).slice(1);
	return [...folders.keys(), folders.length].map((depth) =>
		[...folders.slice(0, depth), name].map((part) => `node_modules/${part}`).join('/'),
	);
}

const otherVersions = readdirSync(path.join(root, 'test/n8n/versions'));

describe.each([
	'package-lock.json',
	'test/n8n/package-lock.json',
	'test/world/package-lock.json',
	...otherVersions.map((version) => `test/n8n/versions/${version}/package-lock.json`),
])('%s', (file) => {
	const packages = lockedIn(file);

	it('each lock file has every optional dependency, so that npm ci works on each platform', () => {
		const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
			Object.keys(optionalDependencies).filter(
				(name) => !placesOf(name, from).some((place) => place in packages),
			),
		);
		expect(missing).toEqual([]);
	});

	it('each lock file contains no address of a registry', () => {
		expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
	});
});
