import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atLeast, atMost, printTable, type Figure } from '../report';

const root = path.join(__dirname, '../..');

/** The checks of `npm test` before the tests. */
const checks = ['format', 'lint', 'types', 'build'];

interface Results {
	/** The times are in milliseconds. */
	testResults: Array<{ name: string; startTime: number; endTime: number }>;
}

type Covered = Record<'lines' | 'branches', { pct: number; total: number; covered: number }>;

/** Measures where the time of `npm test` goes, and how much of `nodes` its tests cover. */
export async function measureTests(only: string[]): Promise<Figure[]> {
	const folder = mkdtempSync(path.join(tmpdir(), 'tests-'));
	try {
		return [
			...(only.includes('time') ? timeFigures(folder) : []),
			...(only.includes('coverage') ? coverageFigures(folder) : []),
		];
	} finally {
		rmSync(folder, { recursive: true });
	}
}

function timeFigures(folder: string): Figure[] {
	const results = path.join(folder, 'results.json');
	const checked = secondsOf('npm-run-all2/bin/run-p/index.js', checks);
	const tested = secondsOf('jest/bin/jest.js', [
		'--selectProjects=quick',
		'--json',
		`--outputFile=${results}`,
	]);
	const files = secondsByFile(JSON.parse(readFileSync(results, 'utf8')) as Results);
	const sum = files.reduce((total, [, seconds]) => total + seconds, 0);
	printTable([
		[`the slowest of ${files.length} test files, ${sum.toFixed(0)} s in all`, 's'],
		...files.slice(0, 20).map(([file, seconds]) => [file, seconds.toFixed(1)]),
	]);
	return [
		{ figure: 'format, lint, types and build, side by side', value: `${checked.toFixed(0)} s` },
		{ figure: 'tests', value: `${tested.toFixed(0)} s` },
		atMost('npm test', checked + tested, 150, { unit: 's' }),
	];
}

const secondsByFile = ({ testResults }: Results): Array<[file: string, seconds: number]> =>
	testResults
		.map(({ name, startTime, endTime }): [string, number] => [
			path.relative(root, name),
			(endTime - startTime) / 1000,
		])
		.sort(([, one], [, other]) => other - one);

function coverageFigures(folder: string): Figure[] {
	// jest's own way only sees what it has loaded itself.
	secondsOf('c8/bin/c8.js', [
		'--include=nodes/**/*.ts',
		'--reporter=json-summary',
		`--reports-dir=${folder}`,
		process.execPath,
		path.join(root, 'node_modules/jest/bin/jest.js'),
		// A worker ends before it has written what it ran.
		'--selectProjects=quick',
		'--runInBand',
	]);
	const summary = readFileSync(path.join(folder, 'coverage-summary.json'), 'utf8');
	const { total, ...files } = JSON.parse(summary) as Record<string, Covered>;
	const least = Object.entries(files).sort(
		([, one], [, other]) => one.branches.pct - other.branches.pct,
	);
	printTable([
		['the files with the lowest branch coverage', 'lines', 'branches'],
		...least
			.slice(0, 15)
			.map(([file, { lines, branches }]) => [
				path.relative(root, file),
				`${lines.pct} %`,
				`${branches.pct} %`,
			]),
	]);
	const percent = { unit: '%', digits: 1 };
	return [
		atLeast('lines of nodes/ that the tests run', total.lines.pct, 97, percent),
		atLeast('branches of nodes/ that the tests run', total.branches.pct, 93, percent),
	];
}

/** Runs a tool of the project. @returns its seconds @throws Error when it fails */
function secondsOf(tool: string, args: string[]): number {
	const begun = performance.now();
	const script = path.join(root, 'node_modules', tool);
	const { status } = spawnSync(process.execPath, [script, ...args], {
		cwd: root,
		stdio: ['ignore', 'ignore', 'inherit'],
	});
	if (status !== 0) throw new Error(`${tool} ${args.join(' ')} ended with ${status}`);
	return (performance.now() - begun) / 1000;
}
