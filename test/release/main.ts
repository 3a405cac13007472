/** All that can be checked before a release: one line for each check, and all problems. Each problem says what to do. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pc from 'picocolors';
import lock from '../../package-lock.json';
import manifest from '../../package.json';
import { n8nVersions } from '../n8n/installation';

const root = path.resolve(__dirname, '../..');
const { version, author, homepage, repository, scripts } = manifest;

/** Runs a command, whatever comes of it. */
function run(command: string, ...options: string[]) {
	const settings = { cwd: root, encoding: 'utf8', maxBuffer: 1e9 } as const;
	const { status, stdout, stderr } = spawnSync(command, options, settings);
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

/** The values of package.json that the owner has not replaced yet. */
function placeholders(): string[] {
	const values = {
		'author.name': author.name,
		'author.email': author.email,
		homepage,
		'repository.url': repository.url,
	};
	return Object.entries(values)
		.filter(([, value]) => /model[ -]gateway[ -]nodes|\.example$/i.test(value))
		.map(
			([name, value]) =>
				`package.json has the placeholder “${value}” as ${name}: see “Before the first release” in docs/development/releasing.md`,
		);
}

/** The newest entry of the changelog, such as `## 1.0.0 - 2026-12-01`, is of this version, and has a date and a text. */
function changelogProblems(): string[] {
	const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
	const [, newest = '', date = '', text = ''] =
		/^## (\S+)(?: - (\S*))?\n(.*?)(?=^## |$(?![^]))/ms.exec(changelog) ?? [];
	const today = new Date().toISOString().slice(0, 10);
	return [
		...(newest === version
			? []
			: [`CHANGELOG.md names ${newest}, package.json ${version}: name the same version in both`]),
		...(/^\d{4}-\d\d-\d\d$/.test(date) && date <= today
			? []
			: [`the entry ${newest} has no date up to ${today}: set the date`]),
		...(text.trim() === '' ? [`the entry ${newest} has no text: say what a user gets`] : []),
	];
}

/** Runs all quick tests, and those of n8n's own tools. */
function testProblems(): string[] {
	const folder = mkdtempSync(path.join(tmpdir(), 'release-'));
	const output = path.join(folder, 'report.json');
	const files = [
		'test/promises',
		'test/unit',
		'test/engine',
		'test/deep/scan',
		'test/deep/nodeCli',
	];
	const { isFine, printed } = run('npx', 'jest', '--json', `--outputFile=${output}`, ...files);
	try {
		const { testResults } = JSON.parse(readFileSync(output, 'utf8')) as {
			testResults: Array<{ name: string; status: string }>;
		};
		const failed = testResults.filter(({ status }) => status !== 'passed');
		if (failed.length === 0 && !isFine) throw new Error('no file failed');
		return failed.map(({ name }) => `a test failed: run npx jest ${path.relative(root, name)}`);
	} catch (error) {
		throw new Error(`jest gave no report: ${(error as Error).message}\n${printed}`);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** The parts that a user installs: without those that build it, and without those of n8n, which npm names as peers. */
function advisories(): string[] {
	const left = ['dev', 'optional', 'peer'].map((kind) => `--omit=${kind}`);
	const { metadata, vulnerabilities, message } = JSON.parse(
		run('npm', 'audit', ...left, '--json').stdout,
	) as {
		metadata?: object;
		vulnerabilities?: Record<string, { severity: string }>;
		message?: string;
	};
	if (metadata === undefined || vulnerabilities === undefined) {
		throw new Error(`${message}: run npm audit against another registry`);
	}
	return Object.entries(vulnerabilities).map(
		([name, { severity }]) => `${name} has a vulnerability (${severity}): update or remove it`,
	);
}

const checks: Record<string, () => string[]> = {
	placeholders,
	'lock file': () => {
		const isSame = [lock.version, lock.packages[''].version].every((own) => own === version);
		return isSame ? [] : [`package-lock.json does not name ${version}: run npm install`];
	},
	changelog: changelogProblems,
	tag: () => {
		const tagged = git('tag', '--list', '--format=%(objectname) %(*objectname)', `v${version}`);
		const commit = tagged.trim().split(' ').at(-1) ?? '';
		return ['', git('rev-parse', 'HEAD')].includes(commit)
			? []
			: [`the tag v${version} is at another commit: release a new version`];
	},
	commit: () => {
		const left = git('status', '--porcelain');
		return left === '' ? [] : [`not everything is committed:\n${left}`];
	},
	'npm ci': () => {
		const { isFine, printed } = run('npm', 'ci', '--dry-run', '--no-audit', '--loglevel=error');
		return isFine ? [] : [`package-lock.json does not fit: run npm install\n${printed}`];
	},
	'stored executions': () => {
		const files = readdirSync(path.join(root, 'test/fixtures/executions'));
		return n8nVersions
			.filter((n8n) => !files.some((name) => name.startsWith(`${version}-n8n-${n8n}-`)))
			.map(
				(n8n) => `no executions of ${version} in n8n ${n8n}: run E2E_N8N=${n8n} npm run capture`,
			);
	},
	...Object.fromEntries(
		Object.keys(scripts)
			.filter((script) => /^(build|format|types|lint:.*)$/.test(script))
			.map((script) => [`npm run ${script}`, () => problemOf(script)]),
	),
	tests: testProblems,
	advisories,
};

for (const [name, problems] of Object.entries(checks)) {
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
