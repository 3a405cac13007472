import { inspect, parseArgs } from 'node:util';
import pc from 'picocolors';
import { print, printFigures, printSummary, type Figure } from '../../bench/report';
import { diskFault } from './faults/disk';
import { packagesFault } from './faults/packages';
import { redisFault } from './faults/redis';
import { holdSection } from './hold';
import { killsSection, smallSection } from './kills';
import { latencySection } from './latency';
import { loadSection } from './load';
import { writeIntoPage } from './page';
import { storageSection } from './storage';

const usage = `Runs a complete n8n in queue mode (a main process, a webhook process, two workers, Redis and PostgreSQL) with
the embedded gateway, and shows what it bears and what it costs. It needs no key and talks to this machine only.

  npm run test:scale -- [options]

  --only <section>  kills: processes are killed and restarted amid creates, passes and downloads
                    load: chats by one worker and by two; many parked and held waits at once
                    latency: how late videos are noticed, and what a pass costs, by how many are parked
                    hold: more executions than slots, kept running and parked
                    storage: a large video, with n8n's files in the file system and in the database
                    packages: workers without the package, or with another version of it
                    redis: Redis goes away for half a minute
                    disk: there is no room left for n8n's files
  --share <number>  of what load and latency start, and of how long the videos of hold take (1)
  --small           kills with one worker and few executions
  --help            this text

The exit code is 1 when a video was lost, or charged twice.`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			only: { type: 'string', multiple: true },
			share: { type: 'string', default: '1' },
			small: { type: 'boolean', default: false },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	// What was started ends with this process.
	for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
		process.once(signal, () => process.exit(130));
	}
	const share = Number(values.share);
	const part = (whole: number) => Math.ceil(whole * share);
	const sections: Record<string, () => Promise<Figure[]>> = {
		kills: killsSection,
		load: async () => await loadSection({ chats: part(1000), parked: part(500), held: part(100) }),
		latency: async () => await latencySection([10, 100, 500].map(part)),
		hold: async () => await holdSection({ executions: 30, videoSeconds: part(180) }),
		packages: packagesFault,
		redis: redisFault,
		disk: diskFault,
		storage: async () => await storageSection({ megabytes: part(400) }),
	};
	if (values.small) return await runSections({ small: smallSection }, ['small']);
	const chosen = values.only ?? Object.keys(sections);
	const unknown = chosen.find((name) => !Object.hasOwn(sections, name));
	if (unknown !== undefined) throw new Error(`There is no section ${unknown}: try --help`);
	await runSections(sections, chosen);
}

async function runSections(
	sections: Record<string, () => Promise<Figure[]>>,
	chosen: string[],
): Promise<void> {
	const figures: Figure[] = [];
	for (const name of chosen) {
		print(`\n${pc.bold(pc.underline(name))}`);
		const own = await sections[name]();
		print();
		printFigures(own);
		figures.push(...own);
		if (process.env.UPDATE_DOCS && Object.hasOwn(sections, 'load')) writeIntoPage(name, own);
	}
	print();
	printSummary(figures);
	if (figures.some(({ met }) => met === false)) process.exitCode = 1;
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The run broke:')} ${inspect(error)}\n`);
	process.exitCode = 1;
});
