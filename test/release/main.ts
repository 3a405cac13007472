/** All that can be checked before a release: one line for each check, and all problems. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pc from 'picocolors';
import { n8nVersions } from '../n8n/installation';
import {
	advisoryProblems,
	changelogProblems,
	failedTests,
	npmLinkProblems,
	placeholders,
	storedProblems,
	tagProblems,
	versionProblems,
} from '../support/release/problems';

const root = path.resolve(__dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const json = <T>(text: string) => JSON.parse(text) as T;

/** Runs a command, whatever comes of it. */
function run(command: string, ...options: string[]) {
	const { status, stdout, stderr } = spawnSync(command, options, {
		cwd: root,
		encoding: 'utf8',
		maxBuffer: 1e9,
	});
	return { isFine: status === 0, stdout: stdout.trim(), printed: `${stdout}${stderr}`.trim() };
}

/** The problem of a script of package.json, with its last lines. */
function problemOf(script: string): string[] {
	const { isFine, printed } = run('npm', 'run', '--silent', script);
	return isFine ? [] : [`npm run ${script} failed:\n${printed.split('\n').slice(-15).join('\n')}`];
}

/** @throws Error when git fails: what it did not say is not known to be fine */
function git(...options: string[]): string {
	const { isFine, stdout, printed } = run('git', ...options);
	if (!isFine) throw new Error(printed);
	return stdout;
}

/** What a release needs above all, by the files of its tests. */
const tests = {
	'tarball and license': ['test/unit/package/published.test.ts'],
	"n8n's scanner": ['test/deep/scan.test.ts'],
	'n8n-node build and lint': ['test/deep/nodeCli.test.ts'],
	'links of all pages': ['test/unit/package/docs.test.ts'],
	'written pages': ['fieldTable', 'writtenPages', 'queueSettings'].map(
		(name) => `test/unit/package/${name}.test.ts`,
	),
	'docker compose': ['test/unit/package/compose.test.ts'],
	'lock files': ['test/unit/package/lockFiles.test.ts'],
	examples: ['test/engine/examples.test.ts'],
};

/** Runs all quick tests, and those of n8n's tools. @returns a check for each part of {@link tests}, and for the rest */
function testChecks(): Array<[string, () => string[]]> {
	let report: Parameters<typeof failedTests>[0] | undefined;
	const results = () => {
		if (report !== undefined) return report;
		const folder = mkdtempSync(path.join(tmpdir(), 'release-'));
		const output = path.join(folder, 'report.json');
		const files = ['test/unit', 'test/engine', ...Object.values(tests).flat()];
		const { printed } = run('npx', 'jest', '--json', `--outputFile=${output}`, ...files);
		try {
			report = json<{ testResults: NonNullable<typeof report> }>(
				readFileSync(output, 'utf8'),
			).testResults;
		} catch {
			throw new Error(`jest gave no report:\n${printed}`);
		} finally {
			rmSync(folder, { recursive: true });
		}
		return report;
	};
	const named = Object.values(tests).flat();
	const rest = () =>
		results()
			.map(({ name }) => path.relative(root, name))
			.filter((file) => !named.includes(file));
	const check = (files: string[]) => files.flatMap((file) => failedTests(results(), file));
	return [
		...Object.entries(tests).map(([name, files]): [string, () => string[]] => [
			name,
			() => check(files),
		]),
		['all other tests', () => check(rest())],
	];
}

type Manifest = Parameters<typeof placeholders>[0] & { scripts: Record<string, string> };

const manifest = json<Manifest>(read('package.json'));
const { version } = manifest;
const changelog = read('CHANGELOG.md');

const checks: Array<[string, () => string[]]> = [
	['placeholders', () => placeholders(manifest)],
	['version', () => versionProblems(manifest, json(read('package-lock.json')), changelog)],
	['changelog', () => changelogProblems(changelog, new Date().toISOString().slice(0, 10))],
	[
		'tag',
		() => {
			const tagged = git('tag', '--list', '--format=%(objectname) %(*objectname)', `v${version}`);
			return tagProblems(version, tagged.split(' ').at(-1) ?? '', git('rev-parse', 'HEAD'));
		},
	],
	[
		'commit',
		() => {
			const left = git('status', '--porcelain');
			return left === '' ? [] : [`not everything is committed:\n${left}`];
		},
	],
	[
		'npm ci',
		() => {
			const { isFine, printed } = run('npm', 'ci', '--dry-run', '--no-audit', '--loglevel=error');
			return isFine ? [] : [`package-lock.json does not fit: run npm install\n${printed}`];
		},
	],
	[
		'stored executions',
		() => {
			const files = readdirSync(path.join(root, 'test/fixtures/executions'));
			return storedProblems(version, n8nVersions, files);
		},
	],
	[
		'README on npm',
		() => {
			const files = git('ls-files').split('\n');
			return npmLinkProblems(read('README.md'), manifest.repository.url, files);
		},
	],
	...Object.keys(manifest.scripts)
		.filter((script) => /^(build|format|types|lint:.*)$/.test(script))
		.map((script): [string, () => string[]] => [`npm run ${script}`, () => problemOf(script)]),
	...testChecks(),
	[
		'advisories',
		// What a user installs: not what builds it, and not the parts of n8n that npm names as peers.
		() => {
			const left = ['dev', 'optional', 'peer'].map((kind) => `--omit=${kind}`);
			return advisoryProblems(run('npm', 'audit', ...left, '--json').stdout);
		},
	],
];

for (const [name, problems] of checks) {
	let found: string[];
	try {
		found = problems();
	} catch (error) {
		found = [`could not be checked: ${(error as Error).message}`];
	}
	if (found.length > 0) process.exitCode = 1;
	const lines = found.length === 0 ? [pc.green('ok')] : found.map((problem) => pc.red(problem));
	for (const line of lines) process.stdout.write(`${name.padEnd(24)}${line}\n`);
}
