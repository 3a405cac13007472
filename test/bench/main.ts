import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import pc from 'picocolors';
import { benchDownload } from './download';
import { benchItems } from './items';
import { benchLatency } from './latency';
import { benchOrders } from './orders';
import { benchPackage } from './package';
import { benchRendering } from './rendering';
import { print, printFigures, printSummary, type Figure } from './report';
import { benchRequests } from './requests';
import { benchWaiting } from './waiting';

interface Part {
	about: string;
	/** How to read the figures. */
	notes: string[];
	run(): Promise<Figure[]>;
}

const parts: Record<string, Part> = {
	waiting: {
		about: 'twenty videos of 10 s in one Wait for Video node (30 s)',
		notes: [
			'goal of the time: the end of the last video + one poll interval + 1 s',
			'fewest possible: from the first poll of a job, one in each interval until its end is seen',
		],
		run: benchWaiting,
	},
	latency: {
		about:
			'from the end of a video to the next node, kept running and parked, in a complete n8n (8 minutes)',
		notes: [
			'parked: n8n looks for parked executions once a minute',
			'kept running: the execution is stored once at the beginning, for up to a minute',
		],
		run: benchLatency,
	},
	download: {
		about: "a video of 1 GB into n8n's store of files, beside the HTTP Request node (1 minute)",
		notes: [
			'medians (least to most), each download in a fresh process; every stored file was read back and deleted',
		],
		run: benchDownload,
	},
	requests: {
		about: 'chats and embeddings of many items, beside axios and the HTTP Request node (5 minutes)',
		notes: [
			'the gateway runs in a process of its own; every figure was warmed up',
			'medians (least to most) of rounds in turn; "first token" counts from the start of the execution',
			'CPU is that of the process which runs the engine; axios keeps connections alive, n8n never does',
			'axios in a loop sends one request after another; our node has ten in flight, unless told otherwise',
		],
		run: benchRequests,
	},
	items: {
		about: '20,000 chats and texts through one node: time, memory, and the event loop (3 minutes)',
		notes: [
			'a server that answers at once, in a process of its own; each run in a fresh process, warmed up by 200 items',
			'memory in use: after a collection every second; the output alone: as the node ends',
			'a block counts while this process computes, and not while the machine is busy with others',
			'the whole execution: with what n8n does before and after the node, such as copying the items',
			'vectors of 1,536 numbers; the HTTP Request node opens a connection for each item at once, so that 20,000 are too many',
		],
		run: benchItems,
	},
	orders: {
		about: 'orders of videos with and without the journal of orders, in a complete n8n (2 minutes)',
		notes: [
			'medians (least to most) of rounds in turn, in two n8n at the same time, one of which has no store',
			'times are those of the webhook that orders, its answer included',
		],
		run: benchOrders,
	},
	package: {
		about: 'the package as it is published: its size, and the time to load it (15 s)',
		notes: [
			"medians (least to most), each in a fresh process, by n8n's own loader of packages",
			'n8n without it is measured in the same processes, just before',
		],
		run: benchPackage,
	},
	rendering: {
		about: 'the videos that the embedded gateway makes for tests and the demo (15 s)',
		notes: [],
		run: benchRendering,
	},
};

const usage = `Measures what this package promises. It needs no key and talks to this machine only.

  npm run bench -- [options]

  --only <part>   one part; repeat it for more
  --help          this text

Parts:
${Object.entries(parts)
	.map(([name, { about }]) => `  ${name.padEnd(10)}  ${about}`)
	.join('\n')}

A missed goal is printed as MISSED and is no failure of the run.`;

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			only: { type: 'string', multiple: true, default: Object.keys(parts) },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	const unknown = values.only.find((name) => !Object.hasOwn(parts, name));
	if (unknown !== undefined) {
		throw new Error(`There is no part "${unknown}": choose from ${Object.keys(parts).join(', ')}`);
	}

	print(`\nNode.js ${process.version}, ${availableParallelism()} cores (${cpus()[0].model})`);
	const figures: Figure[] = [];
	for (const [name, { about, notes, run }] of Object.entries(parts)) {
		if (!values.only.includes(name)) continue;
		print(`\n${pc.bold(name)}: ${about}`);
		const measured = await run();
		printFigures(measured);
		for (const note of notes) print(pc.dim(`  ${note}`));
		figures.push(...measured);
	}
	print();
	printSummary(figures);
}

main().catch((error: Error) => {
	process.stderr.write(`${pc.red('The benchmark broke:')} ${error.message}\n`);
	process.exitCode = 1;
});
