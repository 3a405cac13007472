import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { aligned } from '../support/pages/markdown';
import { lackOf, type Feature } from './features';

interface Row {
	/** The aim of a user. */
	name: string;
	/** The test files that show it, without `.e2e.ts`; or parts of {@link measured}. */
	shownBy: string[];
	lack?: Feature;
}

export const rows: Row[] = [
	{
		name: 'Order, wait and download; the examples',
		shownBy: ['video', 'examples'],
	},
	{ name: 'Install by the dialog “Community nodes”', shownBy: ['communityNodes'] },
	{ name: 'Credential and its connection test', shownBy: ['credential'] },
	{ name: 'The quick start, pasted onto the canvas', shownBy: ['quickStart'] },
	{ name: 'Huge responses do not stop n8n', shownBy: ['largeResponses'] },
	{
		name: 'Fields, menus and messages in the panels',
		shownBy: ['panels', 'mistakes', 'executeStep', 'expectedTimes'],
	},
	{ name: 'Waits park, so that n8n can be restarted', shownBy: ['parking'] },
	{ name: 'Queue mode by its guide, and every setting about saving', shownBy: ['queueMode'] },
	{ name: 'Waits resume after n8n was killed', shownBy: ['waits'] },
	{ name: 'Stop leaves the job IDs in the execution', shownBy: ['stop'] },
	{
		name: 'Retry after Stop reuses the jobs already ordered',
		shownBy: ['stop'],
		lack: 'retryAfterStop',
	},
	{
		name: 'Retry places no order twice after n8n was killed',
		shownBy: ['orders'],
		lack: 'openOrders',
	},
	{ name: 'Parked executions survive an upgrade', shownBy: ['upgrade'] },
	{ name: 'Streamed chat answers', shownBy: ['streaming'] },
	{ name: 'Chat model for agents and chains', shownBy: ['agents'], lack: 'chatModels' },
	{ name: 'Tools for agents', shownBy: ['agents'] },
	{ name: 'Embeddings in vector stores', shownBy: ['agents'] },
	{
		name: 'Files of earlier nodes as reference media',
		shownBy: ['triggeredExamples'],
		lack: 'signedLinks',
	},
	{ name: 'The example with a data table', shownBy: ['examples'], lack: 'tables' },
	{
		name: 'The examples started by a form, a webhook or a chat',
		shownBy: ['triggeredExamples', 'videoBot'],
	},
	{ name: 'One execution per video', shownBy: ['startedExamples'] },
	{ name: 'Failed items, ordered again', shownBy: ['startedExamples'], lack: 'tables' },
	{ name: 'Video tool over MCP', shownBy: ['startedExamples'], lack: 'mcpOrders' },
	{ name: 'Human approval by mail', shownBy: ['humanReview'] },
	{ name: 'Human approval in the chat', shownBy: ['humanReview'], lack: 'humanReview' },
];

/** The parts of `npm run measure -- kills` that have rows. */
export const measured = ['waits', 'orders'];

/** By version of n8n: the test files and the parts that passed in it. */
type Passed = Record<string, string[]>;

const passedFile = path.join(__dirname, '../e2e/versions.json');
const page = path.resolve(__dirname, '../../docs/versions.md');

export const readPassed = () => JSON.parse(readFileSync(passedFile, 'utf8')) as Passed;

/** Stores what passed or failed in a version of n8n, and writes the page. */
export function record(
	version: string,
	outcomes: Iterable<[name: string, hasPassed: boolean]>,
): void {
	const all = readPassed();
	const passed = new Set(all[version]);
	for (const [name, hasPassed] of outcomes) {
		if (hasPassed) passed.add(name);
		else passed.delete(name);
	}
	const text = JSON.stringify({ ...all, [version]: [...passed].sort() }, null, 2);
	writeFileSync(passedFile, `${text}\n`);
	writeFileSync(page, render(readPassed()));
}

/** The page of the docs. */
export function render(passed: Passed): string {
	const versions = Object.keys(passed).sort((one, other) =>
		one.localeCompare(other, 'en', { numeric: true }),
	);
	const notes: string[] = [];
	const noteOn = (text: string) => {
		if (!notes.includes(text)) notes.push(text);
		return notes.indexOf(text) + 1;
	};
	const cell = ({ shownBy, lack }: Row, version: string) => {
		if (!shownBy.every((file) => passed[version].includes(file))) return 'not tried';
		const reason = lack && lackOf(lack, version);
		return reason ? `no (${noteOn(reason)})` : '✓';
	};
	const table = aligned([
		['', ...versions.map((version) => `n8n ${version}`)],
		...rows.map((row) => [row.name, ...versions.map((version) => cell(row, version))]),
	]);
	const list = notes.map((text, index) => `${index + 1}. ${text}`);
	return `${[introduction, table, '', ...list].join('\n').trimEnd()}\n`;
}

const introduction = `# Versions of n8n

What works in which version of n8n: ✓ means that the tests of this package passed in a complete n8n of that version. The number after a “no” leads to the reason, below the table. n8n 1 ran on Node.js 20, n8n 2 on Node.js 24.

\`UPDATE_DOCS=1 npm run test:e2e -- --n8n <version>\` writes the column of that version, and \`E2E_N8N=<version> npm run measure -- kills --write\` its rows about a killed n8n.
`;
