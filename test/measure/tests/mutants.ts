import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atLeast, print, printTable, type Figure } from '../report';

const root = path.join(__dirname, '../../..');

/** What is mutated, by the name of the part. */
const folders = { gateway: 'nodes/shared/gateway', orders: 'nodes/shared/n8n/orders' };

/** Of a hundred mutants, how many a test has to notice. */
const goal = 85;

interface Mutant {
	mutatorName: string;
	replacement: string;
	status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError' | 'Ignored';
	location: { start: { line: number; column: number } };
}

type Mutated = Record<string, { source: string; mutants: Mutant[] }>;

/**
 * Changes the code in one place at a time, and looks whether a unit test notices it.
 * @param files a pattern of their paths; all of them when it is empty
 */
export async function measureMutants(
	{ files, survivors }: { files: string; survivors: boolean },
	only: string[],
): Promise<Figure[]> {
	const parts = Object.entries(folders).filter(([part]) => only.includes(part));
	const mutated = await mutate(parts.map(([, folder]) => `${folder}/${files || '**'}/*.ts`));
	printTable([
		['file', 'noticed', 'not noticed', 'of 100'],
		...Object.entries(mutated).map(([file, { mutants }]) => {
			const { noticed, missed } = counts(mutants);
			return [file, String(noticed), String(missed), scoreOf(mutants).toFixed(0)];
		}),
	]);
	if (survivors) for (const line of survivorsOf(mutated)) print(line);
	return parts.map(([part, folder]) => {
		const mutants = Object.entries(mutated)
			.filter(([file]) => file.startsWith(folder))
			.flatMap(([, own]) => own.mutants);
		const { noticed, missed } = counts(mutants);
		const name = `${part}: mutants noticed, of ${noticed + missed}`;
		return atLeast(name, scoreOf(mutants), goal, { unit: '%', digits: 1 });
	});
}

async function mutate(patterns: string[]): Promise<Mutated> {
	const folder = mkdtempSync(path.join(tmpdir(), 'mutants-'));
	const config = path.join(folder, 'stryker.config.json');
	const report = path.join(folder, 'report.json');
	writeFileSync(
		config,
		JSON.stringify({
			packageManager: 'npm',
			testRunner: 'jest',
			jest: {
				configFile: path.join(__dirname, 'jest.mutants.config.js'),
				// By the coverage of each test it knows them better.
				enableFindRelatedTests: false,
			},
			plugins: ['@stryker-mutator/jest-runner'],
			coverageAnalysis: 'perTest',
			mutate: patterns,
			ignorePatterns: ['dist', 'docs', 'examples', 'test/{e2e,engine,deep,demo,fixtures}'],
			ignoreStatic: true,
			reporters: ['json', 'progress-append-only'],
			jsonReporter: { fileName: report },
			tempDirName: path.join(folder, 'sandbox'),
			timeoutMS: 5000,
			timeoutFactor: 2,
		}),
	);
	try {
		const stryker = path.join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
		const child = spawn(process.execPath, [stryker, 'run', config], {
			cwd: root,
			stdio: ['ignore', 'inherit', 'inherit'],
		});
		const [code] = (await once(child, 'exit')) as [number | null];
		if (code !== 0) throw new Error(`Stryker ended with ${code}`);
		return (JSON.parse(readFileSync(report, 'utf8')) as { files: Mutated }).files;
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Neither what does not compile nor what is left out counts. */
function counts(mutants: Mutant[]) {
	const having = (...statuses: Array<Mutant['status']>) =>
		mutants.filter(({ status }) => statuses.includes(status)).length;
	return { noticed: having('Killed', 'Timeout'), missed: having('Survived', 'NoCoverage') };
}

function scoreOf(mutants: Mutant[]): number {
	const { noticed, missed } = counts(mutants);
	return (100 * noticed) / (noticed + missed || 1);
}

const survivorsOf = (mutated: Mutated): string[] =>
	Object.entries(mutated).flatMap(([file, { source, mutants }]) =>
		mutants
			.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
			.map(({ status, mutatorName, replacement, location: { start } }) => {
				const line = source.split('\n')[start.line - 1].trim();
				const change = replacement.replaceAll(/\s+/g, ' ').slice(0, 100);
				return `${file}:${start.line}:${start.column} ${status} ${mutatorName}: ${line} -> ${change}`;
			}),
	);
