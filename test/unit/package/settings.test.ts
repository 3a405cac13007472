import { readdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { read, root } from '../../support/files/repository';

// Files that other programs read: npm, Dependabot, GitHub and Docker.

interface Locked {
	optionalDependencies?: Record<string, string>;
	resolved?: string;
}
interface Update {
	'package-ecosystem': string;
	directory?: string;
	directories?: string[];
}

const namesIn = (folder: string) => readdirSync(path.join(root, folder));

const lockFiles = [
	'package-lock.json',
	'test/n8n/package-lock.json',
	'test/world/package-lock.json',
	...namesIn('test/n8n/versions').map((name) => `test/n8n/versions/${name}/package-lock.json`),
];

describe.each(lockFiles)('%s', (file) => {
	const { packages } = JSON.parse(read(file)) as { packages: Record<string, Locked> };

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

	it('Dependabot knows the folder of each lock file', () => {
		const { updates } = parse(read('.github/dependabot.yml')) as { updates: Update[] };
		const known = updates
			.filter((update) => update['package-ecosystem'] === 'npm')
			.flatMap(({ directory, directories = [directory] }) => directories);
		const folder = path.join('/', path.dirname(file));
		const names = [folder, path.join(folder, '../*')];
		expect(known.filter((name) => names.includes(`${name}`))).toHaveLength(1);
	});
});

it('each action of the workflows is pinned to a commit, and says which version that is', () => {
	const workflows = namesIn('.github/workflows').map((name) => read(`.github/workflows/${name}`));
	const uses = workflows.flatMap((text) => text.match(/\buses: .*/g) ?? []);
	expect(uses.length).toBeGreaterThan(0);
	// Whoever controls an action can move its tags, but not its commits.
	for (const use of uses) expect(use).toMatch(/^uses: [\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
});

it('compose.yaml lets n8n load this package, which n8n 3 does not by itself', () => {
	const { services } = parse(read('compose.yaml')) as Record<'services', { n8n: object }>;
	expect(services.n8n).toHaveProperty('environment.N8N_UNVERIFIED_PACKAGES_ENABLED', 'true');
});
