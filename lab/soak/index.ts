import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pc from 'picocolors';
import { storedFiles } from '../../test/harness';
import { randomFrom } from '../../gateway/random';
import { withProcess, type Script } from '../process';
import { atMost, none, print, printTable, type Figure } from '../report';
import { Account } from './account';
import { Batch } from './batch';
import { MemoryWatch } from './memory';
import { drawOrders, laneSizes, lastCall } from './orders';
import type { serve, Service } from './service';

interface Settings {
	minutes: number;
	/** Videos being made at the same time. */
	jobs: number;
	/** Percent of the requests that meet a fault. */
	faults: number;
	/** The seed of the faults and the orders. */
	seed: string;
}

/** Megabytes of memory in use, from the second to the last quarter of the time. */
const maxHeapGrowth = 8;
const maxRssGrowth = 48;
/** Seconds in which connections that are no longer needed can end. */
const drainSeconds = 5;

const service: Script<typeof serve> = { file: path.join(__dirname, 'service.ts') };

/** Runs the nodes for a long time while requests of all kinds fail. */
export async function measureSoak(settings: Settings): Promise<Figure[]> {
	const { seed, faults } = settings;
	return await withProcess(
		service,
		[seed, faults / 100],
		async (served) => await soak(served, settings),
	);
}

async function soak(served: Service, { minutes, jobs, seed }: Settings): Promise<Figure[]> {
	const before = process.getActiveResourcesInfo();
	const account = new Account();
	const memory = new MemoryWatch();
	const begun = Date.now();
	const secondsLeft = () => 60 * minutes - (Date.now() - begun) / 1000;
	const lines = setInterval(() => void printLine(served, account, memory, begun), 60_000);
	try {
		const batch = new Batch(served, account);
		await Promise.all(
			laneSizes(jobs).map(async (size, lane) => {
				const random = randomFrom(`lane ${lane} of ${seed}`);
				while (secondsLeft() > lastCall) {
					const order = { random, left: secondsLeft(), first: account.orders };
					await batch.run(drawOrders(size, order));
				}
			}),
		);
	} finally {
		clearInterval(lines);
		memory.end();
	}
	await printLine(served, account, memory, begun);
	await sleep(drainSeconds * 1000);
	const left = leftOpen(before);
	const errors = [...account.errors].sort(([, a], [, b]) => b - a);
	printTable([['errors of the nodes', 'times'], ...errors.map((row) => row.map(String))]);

	const { requests, faults, ...books } = await served.books();
	const audit = account.audit(books);
	const { no, unknown, yes } = account.refused;
	const undelivered = account.known.size - account.delivered;
	return [
		{ figure: 'requests, and how many met a fault', value: `${requests}, ${faults}` },
		{ figure: 'videos ordered', value: `${account.orders}` },
		{ figure: 'creates refused, certainly not charged', value: `${no}` },
		{ figure: 'creates whose response was lost', value: `${unknown + yes}` },
		{ figure: 'waits started again by the job ID', value: `${account.collectedAgain}` },
		none('items charged twice', audit.chargedTwice),
		atMost(
			'charges without a known job (at most the lost responses)',
			audit.unknown,
			unknown + yes,
		),
		none('jobs whose ID was in a response but in no output', audit.missing.length),
		none('jobs in an output that were not charged', audit.notCharged),
		{ figure: 'videos delivered, byte for byte', value: `${account.delivered}` },
		none('known jobs whose video was not delivered', undelivered),
		none('videos or items lost', account.lost.length),
		none('wrong files', account.wrongFiles.length),
		none("files in n8n's storage other than those delivered", account.strayFiles),
		none("files in n8n's storage after all were deleted", (await storedFiles()).length),
		growth('heap', memory.growth('heap'), maxHeapGrowth),
		growth('RSS', memory.growth('rss'), maxRssGrowth),
		none('sockets and timers left open', left.length, left.join(', ') || '0'),
	];
}

function growth(
	name: string,
	{ before, after }: ReturnType<MemoryWatch['growth']>,
	max: number,
): Figure {
	const value = `${before.toFixed(1)} to ${after.toFixed(1)} MB`;
	const figure = `growth of the ${name} after collection, from the second quarter to the last`;
	return atMost(figure, after - before, max, { unit: 'MB', value });
}

async function printLine(
	served: Service,
	account: Account,
	memory: MemoryWatch,
	begun: number,
): Promise<void> {
	for (const trouble of account.newTroubles()) {
		print(pc.red(`  ${trouble}`));
		const [id] = /(task|video)_[\w-]+/.exec(trouble) ?? [];
		for (const line of id ? await served.storyOf(id) : []) print(pc.dim(`    ${line}`));
	}
	const { heap, rss } = memory.sample();
	const { requests, faults, charges } = await served.books();
	const passed = new Date(Date.now() - begun).toISOString().slice(11, 19);
	print(
		[
			`${passed}  ${account.delivered} videos, ${account.underWay} under way`,
			`${requests} requests, ${faults} faults`,
			`${charges.length} charges for ${account.orders} items`,
			`${account.lost.length} lost, ${account.wrongFiles.length} wrong`,
			`heap ${heap.toFixed(1)} MB, RSS ${rss.toFixed(0)} MB`,
		].join('  |  '),
	);
}

/** The open resources of this process that were not open before. */
function leftOpen(before: string[]): string[] {
	const known = [...before];
	return process.getActiveResourcesInfo().filter((name) => {
		const place = known.indexOf(name);
		if (place >= 0) known.splice(place, 1);
		return place < 0;
	});
}
