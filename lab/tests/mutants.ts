import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { atLeast, print, printTable, type Figure } from '../report';

const root = path.join(__dirname, '../..');

interface Part {
	/** The folder that is mutated. */
	folder: string;
	/** A pattern of its files; if undefined, all. */
	files?: string;
	/** The tests that are run, as patterns of files. */
	tests: string[];
}

/** Few promises: nearly every change reaches most of them, and a mutant would take a minute. */
const partsByName: Record<string, Part> = {
	gateway: {
		folder: 'nodes/shared/service',
		tests: [
			'test/unit/service/**/*.test.ts',
			'test/unit/nodes/LmChatModelGateway/*.test.ts',
			'test/engine/agents/{chat,embeddings}Model.test.ts',
			'test/engine/responses/{chat,embeddings}.test.ts',
			'test/engine/files/{images,picture*}.test.ts',
			'test/promises/another-model-*.test.ts',
		],
	},
	/** The facts of an answer and the meaning of a failure, by the tables alone. */
	reader: {
		folder: 'nodes/shared/service',
		files: '{reader/*,errors/verdict}',
		tests: ['test/unit/service/answers.test.ts', 'test/unit/service/{reader,errors}/*.test.ts'],
	},
	orders: {
		folder: 'nodes/shared/n8n/orders',
		tests: [
			'test/{unit/n8n,engine}/orders/**/*.test.ts',
			'test/engine/agents/tools.test.ts',
			'test/promises/{a-day,a-killed,a-preview,a-stopped,a-video-is,an-execution,an-item,an-order,limits,stop,the-user,what-n8n}-*.test.ts',
		],
	},
};

/** Percent of the mutants that a test must notice. */
const goal = 85;

interface Mutant {
	mutatorName: string;
	replacement: string;
	status: 'Killed' | 'Timeout' | 'Survived' | 'NoCoverage' | 'CompileError' | 'Ignored';
	location: { start: { line: number; column: number } };
}

type Mutated = Record<string, { source: string; mutants: Mutant[] }>;

interface Settings {
	/** A pattern of the files to mutate, such as `chat/*`; if empty, all files. */
	files: string;
	/** 0 to 9: the tenth of the functions to mutate (tenth.mjs); if empty, all functions. */
	tenth: string;
	/** Whether to list the mutants that no test noticed. */
	survivors: boolean;
}

/** Changes the code in one place at a time, and checks whether a test notices it. */
export async function measureMutants(settings: Settings, only: string[]): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const name of only) figures.push(await measurePart(name, settings));
	return figures;
}

async function measurePart(name: string, settings: Settings): Promise<Figure> {
	const mutated = await mutate(partsByName[name], settings);
	printTable([
		['file', 'noticed', 'of these endless', 'not noticed', '% noticed'],
		...Object.entries(mutated).map(([file, { mutants }]) => {
			const { noticed, endless, missed } = counts(mutants);
			const score = scoreOf(mutants).toFixed(0);
			return [file, String(noticed), String(endless), String(missed), score];
		}),
	]);
	if (settings.survivors) for (const line of survivorsOf(mutated)) print(line);
	const mutants = Object.values(mutated).flatMap((file) => file.mutants);
	const { noticed, missed } = counts(mutants);
	const figure = `${name}: mutants noticed, of ${noticed + missed}`;
	return atLeast(figure, scoreOf(mutants), goal, { unit: '%', digits: 1 });
}

async function mutate(part: Part, { files, tenth }: Settings): Promise<Mutated> {
	const folder = mkdtempSync(path.join(tmpdir(), 'mutants-'));
	const config = path.join(folder, 'stryker.config.json');
	const report = path.join(folder, 'report.json');
	writeFileSync(
		config,
		JSON.stringify({
			packageManager: 'npm',
			testRunner: 'jest',
			jest: { configFile: 'lab/tests/mutants.jest.config.js', enableFindRelatedTests: false },
			plugins: ['@stryker-mutator/jest-runner', path.join(__dirname, 'tenth.mjs')],
			ignorers: ['tenth'],
			coverageAnalysis: 'perTest',
			mutate: [`${part.folder}/${files || (part.files ?? '**/*')}.ts`],
			ignorePatterns: ['dist', 'docs', 'test/{e2e,deep,demo,n8n}'],
			// Each mutant of a constant would need all tests.
			ignoreStatic: true,
			reporters: ['json', 'progress-append-only'],
			jsonReporter: { fileName: report },
			tempDirName: path.join(folder, 'sandbox'),
			// Far above a busy machine's delays, so that only an endless loop is stopped.
			timeoutMS: 20_000,
			timeoutFactor: 2,
		}),
	);
	try {
		const stryker = path.join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
		const child = spawn(process.execPath, [stryker, 'run', config], {
			cwd: root,
			stdio: ['ignore', 'inherit', 'inherit'],
			env: { ...process.env, MUTATED_TENTH: tenth, MUTANT_TESTS: part.tests.join(' ') },
		});
		const [code] = (await once(child, 'exit')) as [number | null];
		if (code !== 0) throw new Error(`Stryker ended with ${code}`);
		return (JSON.parse(readFileSync(report, 'utf8')) as { files: Mutated }).files;
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Mutants that do not compile, or are ignored, do not count. */
function counts(mutants: Mutant[]) {
	const having = (...statuses: Array<Mutant['status']>) =>
		mutants.filter(({ status }) => statuses.includes(status)).length;
	return {
		noticed: having('Killed', 'Timeout'),
		endless: having('Timeout'),
		missed: having('Survived', 'NoCoverage'),
	};
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
