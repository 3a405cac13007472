/** How soon each video of a list reaches the next node, in a complete n8n: `npm run bench:as-ready`. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { readExample, withSettings } from '../demo/example';
import { withCredential } from '../e2e/support/examples';
import { ensureInstallation } from '../e2e/support/installation';
import { startN8n } from '../e2e/support/n8n';
import { fetchPublished, Owner, type CredentialReference } from '../e2e/support/owner';
import { startSink } from '../e2e/scale/sink';
import { until } from '../e2e/support/until';
import {
	byId,
	core,
	modelGateway,
	startedBy,
	waitForVideo,
	type Node,
} from '../e2e/support/workflows';
import { sampleVideo } from '../engine/support/samples';
import { startGateway } from '../gateway';
import type { WorkflowJson } from '../harness/workflow';
import { packInto } from '../support/packed';
import { print } from './report';
import { median } from './statistics';

const usage = `Orders a list of videos of different length in one complete n8n, in each way that the package has to wait for
them, and prints when each way gave the next node its first video, the one in the middle, and the last. All ways run at
the same time, as workflows that start by themselves. It needs no key. It takes as long as the longest video, and 2 minutes.

  npm run bench:as-ready -- [options]

  --videos <number>    how many (20)
  --shortest <number>  seconds that the first of the list takes (60)
  --longest <number>   seconds that the last of the list takes (300); those between them are spread evenly
  --help               this text`;

interface ListedVideo {
	name: string;
	model: string;
	prompt: string;
}

interface Way {
	about: string;
	workflow(videos: ListedVideo[], path: string): WorkflowJson;
}

async function main(): Promise<void> {
	const { values } = parseArgs({
		options: {
			videos: { type: 'string', default: '20' },
			shortest: { type: 'string', default: '60' },
			longest: { type: 'string', default: '300' },
			help: { type: 'boolean', default: false },
		},
	});
	if (values.help) return print(usage);
	const [count, shortest, longest] = [values.videos, values.shortest, values.longest].map(Number);
	if (!(count >= 2 && shortest > 0 && longest >= shortest)) {
		throw new Error('It takes at least 2 videos, and a longest one that is not shorter');
	}
	const secondsOf = (index: number) =>
		Math.round(shortest + ((longest - shortest) * index) / (count - 1));

	await ensureInstallation();
	const [load] = loadavg();
	const folder = await mkdtemp(path.join(tmpdir(), 'bench-as-ready-'));
	process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
	for (const signal of ['SIGINT', 'SIGTERM'] as const) {
		process.once(signal, () => process.exit(130));
	}
	const video = await sampleVideo();
	const gateway = await startGateway({
		jobSeconds: ({ order }) => Number(/(\d+) s/.exec(order.prompt)?.[1]),
		render: async () => video,
	});
	const sink = await startSink();
	const n8n = await startN8n({ folder, tarball: packInto(folder).tarball });
	try {
		const owner = await Owner.of(n8n);
		const ways = waysTo(sink.url, await owner.createCredential(gateway));
		const starts = new Map<string, number>();
		for (const [name, { workflow }] of Object.entries(ways)) {
			const videos = Array.from({ length: count }, (_, index) => ({
				name: `${name}-${index}`,
				model: 'vid-3.1',
				prompt: `A boat that takes ${secondsOf(index)} s to be made, ${name}`,
			}));
			await owner.publish(await owner.createWorkflow(workflow(videos, name)));
			starts.set(name, Date.now());
			await fetchPublished(`${n8n.url}/webhook/${name}`);
		}
		print(`${count} videos of ${shortest} to ${longest} s in each way, load average ${load}`);
		const all = count * starts.size;
		await until(() => sink.deliveries.length >= all, longest + 300);
		if (sink.deliveries.length > all || gateway.ledger.length !== all) {
			throw new Error(`${sink.deliveries.length} came, ${gateway.ledger.length} were charged`);
		}
		print(`\n| way | first | median | last | after it was finished (median) |`);
		print(`| --- | --- | --- | --- | --- |`);
		for (const [name, { about }] of Object.entries(ways)) {
			const own = sink.deliveries.filter(({ name: video }) => video.startsWith(`${name}-`));
			const start = starts.get(name) ?? NaN;
			const after = own.map(({ at }) => (at - start) / 1000);
			const late = own.map(({ name: video, at }) => {
				const index = Number(video.slice(name.length + 1));
				return (at - start) / 1000 - secondsOf(index);
			});
			const times = [Math.min(...after), median(after), Math.max(...after), median(late)];
			print(`| ${about} | ${times.map((time) => `${time.toFixed(0)} s`).join(' | ')} |`);
		}
	} finally {
		await n8n.stop();
		await sink.close();
		await gateway.close();
	}
}

function waysTo(sinkUrl: string, credential: CredentialReference): Record<string, Way> {
	/** What comes behind the wait: it sends the name of the video on. */
	const handOn = (video: string): Node =>
		core('Save Video', 'httpRequest', { method: 'PUT', url: `=${sinkUrl}/{{ ${video} }}` }, 4.2);
	const hook = (path: string) => ({
		...core('Start', 'webhook', { path, responseMode: 'onReceived' }, 2.1),
		webhookId: path,
	});
	const create = modelGateway(
		{
			...{ resource: 'video', operation: 'create', model: byId('={{ $json.model }}') },
			prompt: '={{ $json.prompt }}',
		},
		credential,
	);
	const together =
		(whileWaiting: string) =>
		(videos: ListedVideo[], path: string): WorkflowJson =>
			startedBy(
				hook(path),
				core(
					'Your Settings',
					'set',
					{ mode: 'raw', jsonOutput: JSON.stringify({ videos }), options: {} },
					3.4,
				),
				core('One Item per Video', 'splitOut', { fieldToSplitOut: 'videos' }),
				create,
				waitForVideo({ whileWaiting }, credential),
				handOn("$('One Item per Video').item.json.name"),
			);
	/** The example, with a start and an end that can be measured. */
	const apart = (videos: ListedVideo[], path: string): WorkflowJson => {
		const example = withSettings(readExample('one-execution-per-video.json'), { videos });
		const own = [hook(path), handOn("$('One Video').item.json.video.name")];
		const nodes = withCredential(example, credential).nodes.map((node) => ({
			...node,
			...own.find(({ name }) => name === node.name),
		}));
		return { ...example, nodes };
	};
	return {
		parked: {
			about: 'one Wait for Video for all, parked (as it comes)',
			workflow: together('auto'),
		},
		running: {
			about: 'one Wait for Video for all, kept running',
			workflow: together('hold'),
		},
		apart: {
			about: 'one execution per video, parked (the example)',
			workflow: apart,
		},
	};
}

main().catch((error: Error) => {
	process.stderr.write(`${error.stack ?? error.message}\n`);
	process.exitCode = 1;
});
