import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { printTable, type Figure } from './report';

const root = path.join(__dirname, '..');

/** The files of each capability, below `nodes`. A file counts for the first that names it. */
const capabilities: Record<string, string[]> = {
	'meaning of failures': [
		'shared/service/{errors/*,protocol/errorCodes,reader/{page,reason,refusal}}.ts',
		'shared/n8n/errors/*.ts',
	],
	'other facts of an answer': [
		'shared/service/{reader/*,json*,embeddings/responses,jobs/responses}.ts',
	],
	'images of an answer': ['shared/service/{images/{entries,responses,textImages},markup}.ts'],
	throttles: ['shared/service/client/{adaptiveLimit,requestQueue,sendInTurn,transferLimit}.ts'],
	'transfers of files': [
		'shared/service/client/{file*,received*,transfer}.ts',
		'shared/service/{jobs/{download,linking,linkLooks},images/files}.ts',
	],
	client: ['shared/{service,n8n}/client/*.ts', 'shared/service/{addresses,links,sharePages}.ts'],
	'chats and streams': ['shared/service/chat/*.ts'],
	'wait and parking': [
		'ModelGatewayWaitForVideo/*.ts',
		'shared/service/jobs/{poller,pollerState,wait,expectation}.ts',
	],
	'orders and limits': ['shared/n8n/orders/*.ts'],
	'item loop': ['shared/n8n/items/*.ts'],
	'fields and how they are read': ['shared/n8n/parameters/*.ts'],
	operations: ['ModelGateway/**/*.ts', 'shared/n8n/operations/*.ts'],
	'file types': ['shared/service/files/*.ts'],
	'AI sub-nodes and tools': [
		'{LmChatModelGateway,EmbeddingsModelGateway}/*.ts',
		'shared/n8n/agent/*.ts',
	],
	'facts of the service': ['shared/service/{protocol,models,jobs}/*.ts'],
	'the rest': ['**/*.ts'],
};

const programs = ['nodes', 'gateway', 'test', 'test/unit/package', 'lab'];

/** Counts the lines of the code, with their comments, by what they are for. */
export async function measureLines(): Promise<Figure[]> {
	const seen = new Set<string>();
	const rows = Object.entries(capabilities).map(([name, patterns]) => {
		const files = globSync(patterns, { cwd: path.join(root, 'nodes') });
		const own = files.filter((file) => !seen.has(file)).map((file) => `nodes/${file}`);
		for (const file of files) seen.add(file);
		return rowOf(name, own);
	});
	printTable([['capability of nodes', ...columns], ...rows]);
	const all = programs.map((folder) =>
		rowOf(
			folder,
			globSync(`${folder}/**/*.{ts,js,mjs}`, { cwd: root, ignore: ['**/node_modules'] }),
		),
	);
	printTable([['folder', ...columns], ...all]);
	return [];
}

const columns = ['lines', 'comments', 'imports', 'texts', 'other', 'files', 'longest file'];

interface Counts {
	lines: number;
	/** Comments and empty lines. */
	comments: number;
	imports: number;
	/** Lines that are nothing but a text or a pattern, with its name at most. */
	texts: number;
}

function rowOf(name: string, files: string[]): string[] {
	const counts = files.map((file) => ({ file: path.basename(file), ...countsOf(file) }));
	const sum = (column: keyof Counts) => counts.reduce((all, each) => all + each[column], 0);
	const [longest] = counts.sort((one, other) => other.lines - one.lines);
	const known = [sum('comments'), sum('imports'), sum('texts')];
	const other = known.reduce((rest, each) => rest - each, sum('lines'));
	return [
		name,
		...[sum('lines'), ...known, other, files.length].map(String),
		`${longest.file} (${longest.lines})`,
	];
}

function countsOf(file: string): Counts {
	const text = readFileSync(path.join(root, file), 'utf8');
	const imports = text.match(/^(?:import|export)\b[^;=(]*? from '[^']*';\n/gm) ?? [];
	const lines = text
		.trimEnd()
		.split('\n')
		.map((line) => line.trim());
	return {
		lines: lines.length,
		comments: lines.filter((line) => /^(?:$|\/\/|\/\*|\*)/.test(line)).length,
		imports: imports.join('').split('\n').length - 1,
		texts: lines.filter((line) => /^(?:[\w']+: )?(?:String\.raw)?(?:['"`]|\/[^/*]).*$/.test(line))
			.length,
	};
}
