/** All that can be checked before a release: one line for each check, and all problems. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pc from 'picocolors';
import {
	advisoryProblems,
	changelogProblems,
	failedTests,
	npmLinkProblems,
	placeholders,
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

/** Tests that also hold for a release, by what they check. */
const tests = {
	'tarball and license': ['test/unit/package/published.test.ts'],
	"n8n's scanner": ['test/deep/scan.test.ts'],
	'n8n-node build and lint': ['test/deep/nodeCli.test.ts'],
	'links of all pages': ['test/unit/package/docs.test.ts'],
	'author and repository': ['test/unit/package/repeated.test.ts'],
	'written tables': ['fieldTable', 'eventTable', 'versionTable', 'queueSettings'].map(
		(name) => `test/unit/package/${name}.test.ts`,
	),
	'docker compose': ['test/unit/package/compose.test.ts'],
	'lock files': ['test/unit/package/lockFiles.test.ts'],
	examples: ['test/engine/examples.test.ts'],
};

/** Runs these tests, all at once. @returns a check for each of them */
function testChecks(): Array<[string, () => string[]]> {
	let report: Parameters<typeof failedTests>[0] | undefined;
	const results = () => {
		if (report !== undefined) return report;
		const folder = mkdtempSync(path.join(tmpdir(), 'release-'));
		const output = path.join(folder, 'report.json');
		const projects = ['--project=quick', '--project=deep'];
		const options = ['--reporter=json', `--outputFile=${output}`];
		const files = Object.values(tests).flat();
		const { printed } = run('npx', 'vitest', 'run', ...projects, ...options, ...files);
		try {
			report = json<{ testResults: NonNullable<typeof report> }>(
				readFileSync(output, 'utf8'),
			).testResults;
		} catch {
			throw new Error(`vitest gave no report:\n${printed}`);
		} finally {
			rmSync(folder, { recursive: true });
		}
		return report;
	};
	return Object.entries(tests).map(([name, files]) => [
		name,
		() => files.flatMap((file) => failedTests(results(), file)),
	]);
}

const manifest = json<Parameters<typeof placeholders>[0]>(read('package.json'));
const { version } = manifest;
const changelog = read('CHANGELOG.md');

const checks: Array<[string, () => string[]]> = [
	['placeholders', () => placeholders(manifest)],
	['version', () => versionProblems(manifest, json(read('package-lock.json')), changelog)],
	['changelog', () => changelogProblems(changelog, new Date().toISOString().slice(0, 10))],
	[
		'tag',
		() => {
			const commitOf = (name: string) =>
				run('git', 'rev-parse', '--quiet', '--verify', `${name}^{commit}`).stdout;
			return tagProblems(version, commitOf(`refs/tags/v${version}`), commitOf('HEAD'));
		},
	],
	[
		'commit',
		() => {
			const { stdout } = run('git', 'status', '--porcelain');
			return stdout === '' ? [] : [`not everything is committed:\n${stdout}`];
		},
	],
	[
		'stored executions',
		() =>
			readdirSync(path.join(root, 'test/fixtures/executions')).some((name) =>
				name.startsWith(`${version}-`),
			)
				? []
				: [`no executions of ${version} are stored: run npm run capture`],
	],
	[
		'README on npm',
		() => {
			const files = run('git', 'ls-files').stdout.split('\n');
			return npmLinkProblems(read('README.md'), manifest.repository.url, files);
		},
	],
	['build', () => problemOf('build')],
	...testChecks(),
	['workflows of GitHub', () => problemOf('lint:workflows')],
	// What users install. The tools that build it are no part of it.
	['advisories', () => advisoryProblems(run('npm', 'audit', '--omit=dev', '--json').stdout)],
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
