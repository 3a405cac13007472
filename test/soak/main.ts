import axios from 'axios';
import { Agent } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { withProcess } from '../bench/helperProcess';
import { print, printFigures, printSummary } from '../bench/report';
import { randomFrom } from '../gateway/rendering/random';
import { storedFiles } from '../harness';
import { Batch } from './batch';
import { figuresOf } from './figures';
import { MemoryWatch } from './memory';
import { drawOrders, laneSizes, lastCall } from './orders';
import type { Books, Service } from './service';
import { Tally } from './tally';

const usage = `Lets the nodes work for a long time, while requests of all kinds go wrong, and looks whether
anything is lost, paid twice, or left behind. It needs no key and talks to this machine only.

  npm run soak -- [options]

  --minutes <number>   how long (30)
  --jobs <number>      videos in the making at the same time (200)
  --faults <number>    of a hundred requests, how many go wrong (5)
  --seed <text>        what the faults and the orders are drawn from (1)
  --help               this text

The exit code is 1 when a promise is broken.`;

interface Settings {
	minutes: number;
	jobs: number;
	seed: string;
}

/** A connection that is no longer needed gets this long to end. */
const toRest = 5;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			minutes: { type: 'string', default: '30' },
			jobs: { type: 'string', default: '200' },
			faults: { type: 'string', default: '5' },
			seed: { type: 'string', default: '1' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	const [minutes, jobs, faults] = (['minutes', 'jobs', 'faults'] as const).map((name) => {
		const number = Number(values[name]);
		if (number > 0) return number;
		throw new Error(`--${name} must be a number above 0, not "${values[name]}"`);
	});
	const { seed } = values;
	// The harness deletes what n8n stored when the process exits.
	process.once('SIGINT', () => process.exit(130));

	print(`\n${jobs} jobs at a time for ${minutes} minutes, ${faults} % faults, seed ${seed}\n`);
	const script = path.join(__dirname, 'service.ts');
	await withProcess({ script, args: [seed, String(faults / 100)] }, async (service: Service) => {
		await soak(service, { minutes, jobs, seed });
	});
}

async function soak(service: Service, { minutes, jobs, seed }: Settings): Promise<void> {
	const before = process.getActiveResourcesInfo();
	const tally = new Tally();
	const memory = new MemoryWatch();
	const begun = Date.now();
	const secondsLeft = () => 60 * minutes - (Date.now() - begun) / 1000;
	const lines = setInterval(() => void printLine(service, tally, memory, begun), 60_000);
	try {
		const batch = new Batch(service, tally);
		await Promise.all(
			laneSizes(jobs).map(async (size, lane) => {
				const random = randomFrom(`lane ${lane} of ${seed}`);
				while (secondsLeft() > lastCall) {
					const order = { random, left: secondsLeft(), first: tally.orders };
					await batch.run(drawOrders(size, order));
				}
			}),
		);
	} finally {
		clearInterval(lines);
		memory.end();
	}
	await printLine(service, tally, memory, begun);
	await sleep(toRest * 1000);
	const left = leftOpen(before);
	const books = await booksOf(service);
	const figures = figuresOf({ tally, memory, books, files: await storedFiles(), left });
	print();
	printFigures(figures);
	const kinds = [...tally.errors].sort(([, a], [, b]) => b - a);
	print(`\n  Errors that were told, each of them with what to do:`);
	for (const [kind, count] of kinds) print(pc.dim(`  ${String(count).padStart(5)}  ${kind}`));
	print();
	printSummary(figures);
	if (figures.some(({ met }) => met === false)) process.exitCode = 1;
}

// A connection that is kept alive would look like one that was left open.
const httpAgent = new Agent({ keepAlive: false });

async function booksOf({ booksUrl }: Service): Promise<Books> {
	return (await axios.get<Books>(booksUrl, { httpAgent, proxy: false })).data;
}

async function storyOf({ booksUrl }: Service, id: string): Promise<string[]> {
	return (await axios.get<string[]>(`${booksUrl}/${id}`, { httpAgent, proxy: false })).data;
}

async function printLine(
	service: Service,
	tally: Tally,
	memory: MemoryWatch,
	begun: number,
): Promise<void> {
	for (const trouble of tally.newTroubles()) {
		print(pc.red(`  ${trouble}`));
		const [id] = /(task|video)_[\w-]+/.exec(trouble) ?? [];
		for (const line of id ? await storyOf(service, id) : []) print(pc.dim(`    ${line}`));
	}
	const { heap, rss } = memory.sample();
	const { requests, faults, charges } = await booksOf(service);
	const passed = new Date(Date.now() - begun).toISOString().slice(11, 19);
	print(
		[
			`${passed}  ${tally.delivered} videos, ${tally.underWay} under way`,
			`${requests} requests, ${faults} faults`,
			`${charges.length} charges for ${tally.orders} items`,
			`${tally.lost.length} lost, ${tally.wrongFiles.length} wrong`,
			`heap ${heap.toFixed(1)} MB, RSS ${rss.toFixed(0)} MB`,
		].join('  |  '),
	);
}

/** What keeps this process busy that did not before. */
function leftOpen(before: string[]): string[] {
	const known = [...before];
	return process.getActiveResourcesInfo().filter((name) => {
		const place = known.indexOf(name);
		if (place >= 0) known.splice(place, 1);
		return place < 0;
	});
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The soak broke:')} ${error.stack}\n`);
	process.exitCode = 1;
});
