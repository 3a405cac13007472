/** Runs the end-to-end tests, in one or more versions of n8n: `npm run test:e2e -- --n8n 1.123.81 parking`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ensureInstallation, testedVersion } from '../n8n/installation';
import { record } from '../n8n/versionTable';

/** The n8n's that run at the same time. */
const maxRunning = 5;

/** Takes out our own option, which may come again. The other options, and the file patterns, are for jest. */
function parse(args: string[]): { versions: string[]; forJest: string[] } {
	const forJest = args.flatMap((arg) => (arg.startsWith('--n8n=') ? arg.split('=') : [arg]));
	const versions: string[] = [];
	for (let at = 0; (at = forJest.indexOf('--n8n')) >= 0;)
		versions.push(forJest.splice(at, 2)[1] ?? '');
	return { versions: versions.length > 0 ? versions : [testedVersion], forJest };
}

async function runTool(name: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
	// The project's own tool: the installed n8n also contains a compiler.
	const script = path.resolve(__dirname, '../../node_modules', name);
	const child = spawn(process.execPath, [script, ...args], {
		stdio: 'inherit',
		env: { ...process.env, ...env },
		// A process group of its own, so that a signal also reaches the processes that it has started.
		detached: true,
	});
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.on(signal, () => process.kill(-Number(child.pid), signal));
	}
	const [code] = (await once(child, 'exit')) as [number | null];
	return code ?? 1;
}

/** Writes the test files that passed into the table of docs/versions.md. */
function recordPassed(version: string, results: string): void {
	const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
		testResults: Array<{ name: string; status: string }>;
	};
	record(
		version,
		testResults.map(({ name, status }) => [path.basename(name, '.e2e.ts'), status === 'passed']),
	);
}

async function testIn(version: string, workers: number, forJest: string[]): Promise<number> {
	const folder = mkdtempSync(path.join(tmpdir(), 'e2e-'));
	const results = path.join(folder, 'results.json');
	const options = [
		'--selectProjects=e2e',
		`--maxWorkers=${workers}`,
		'--json',
		`--outputFile=${results}`,
		`--testSequencer=${require.resolve('../runner/longestFirst')}`,
	];
	const code = await runTool('jest/bin/jest.js', [...options, ...forJest], { E2E_N8N: version });
	if (process.env.UPDATE_DOCS) recordPassed(version, results);
	rmSync(folder, { recursive: true });
	return code;
}

async function main(): Promise<void> {
	const { versions, forJest } = parse(process.argv.slice(2));
	await ensureInstallation(...versions);
	process.exitCode = await runTool('typescript-7/bin/tsc', ['-p', __dirname]);
	if (process.exitCode !== 0) return;
	const workers = Math.max(1, Math.floor(maxRunning / versions.length));
	const codes = await Promise.all(
		versions.map(async (version) => await testIn(version, workers, forJest)),
	);
	process.exitCode = Math.max(...codes);
}

main().catch((error: Error) => {
	process.stderr.write(`${error.message}\n`);
	process.exitCode = 1;
});
