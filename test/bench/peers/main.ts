import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { inspect, parseArgs } from 'node:util';
import pc from 'picocolors';
import { ensureInstallation } from '../../e2e/support/installation';
import { packInto } from '../../support/packed';
import { withProcess } from '../helperProcess';
import { print, printFigures, printSummary } from '../report';
import { chats } from './chats';
import { writeDocument } from './document';
import { embeddings } from './embeddings';
import { files } from './files';
import type { Section, Work } from './section';
import type { Service } from './service';
import { Stage } from './stage';
import { subNodes } from './subNodes';
import { tableOf } from './table';
import { videos } from './videos';

const works: Record<string, { about: string; run: Work }> = {
	chats: { about: '50 chats in one node', run: chats },
	embeddings: { about: '1,000 embeddings in one node', run: embeddings },
	videos: { about: '3 and 20 videos from the order to the file', run: videos },
	files: { about: 'the memory for a video of 400 MB, and of 4 GB', run: files },
	subNodes: { about: 'a vector store and a chain with our sub-nodes', run: subNodes },
};

const usage = `Does the same work in one complete n8n with this package, and with what its users would take instead: n8n's OpenAI,
Alibaba Cloud and HTTP Request nodes. It needs no key and talks to this machine only. About 17 minutes.

  npm run bench:peers -- [options]

  --only <work>      one work; repeat it for more
  --rounds <number>  how often each is done, in turn (3)
  --small            less of everything, within 2 minutes: shows that all of it works, not how fast
  --write            writes docs/benchmarks.md and its picture; so does UPDATE_DOCS=1
  --help             this text

Works:
${Object.entries(works)
	.map(([name, { about }]) => `  ${name.padEnd(10)}  ${about}`)
	.join('\n')}

The exit code is 1 when a work was not done, or charged twice. A missed goal is printed as MISSED and is no failure.`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			only: { type: 'string', multiple: true, default: Object.keys(works) },
			rounds: { type: 'string' },
			small: { type: 'boolean', default: false },
			write: { type: 'boolean', default: process.env.UPDATE_DOCS === '1' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	const { small: isSmall, only } = values;
	const rounds = Number(values.rounds ?? (isSmall ? 1 : 3));
	const unknown = only.find((name) => !Object.hasOwn(works, name));
	if (unknown !== undefined) {
		throw new Error(`There is no work "${unknown}": choose from ${Object.keys(works).join(', ')}`);
	}
	if (!(rounds >= 1)) throw new Error('--rounds must be a number from 1');
	if (values.write && (isSmall || only.length < Object.keys(works).length)) {
		throw new Error('Only a run of all works in full writes the document');
	}
	for (const signal of ['SIGINT', 'SIGTERM'] as const)
		process.once(signal, () => process.exit(130));

	await ensureInstallation();
	const [started, [load]] = [Date.now(), loadavg()];
	const sections = await measure(only, { rounds, isSmall });
	print();
	const goals = sections.flatMap((section) => section.goals);
	if (!isSmall) printFigures(goals);
	print(`\nIt took ${Math.round((Date.now() - started) / 1000)} s.`);
	if (!isSmall) printSummary(goals);
	if (values.write) await writeDocument(sections, { rounds, load });
}

async function measure(
	only: string[],
	options: { rounds: number; isSmall: boolean },
): Promise<Section[]> {
	const folder = await mkdtemp(path.join(tmpdir(), 'bench-peers-'));
	// Also when it is broken off: there may be gigabytes in it.
	process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	const { tarball } = packInto(folder);
	const openStage = async (service: Service, name: string) =>
		await Stage.open(service, tarball, path.join(folder, name));
	const script = path.join(__dirname, 'service.ts');
	return await withProcess({ script }, async (service: Service) => {
		const stage = await openStage(service, 'n8n');
		try {
			const sections: Section[] = [];
			for (const [name, { about, run }] of Object.entries(works)) {
				if (!only.includes(name)) continue;
				print(`\n${pc.bold(name)}: ${about}`);
				const other = async () => await openStage(service, 'other-n8n');
				const section = await run({ stage, openStage: other, ...options });
				for (const { title, rows } of section.tables) print(`\n${title}\n\n${tableOf(rows)}`);
				for (const finding of section.findings ?? []) print(`\n${finding}`);
				sections.push(section);
			}
			return sections;
		} finally {
			await stage.close();
		}
	});
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The comparison broke:')} ${inspect(error)}\n`);
	process.exitCode = 1;
});
