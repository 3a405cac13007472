import type { Gateway, Job } from '../gateway';
import type { WorkflowJson } from '../test/harness/workflow';
import { Instance } from './n8n/instance';
import { callWebhook } from '../test/n8n/owner';
import { until } from '../test/support/time/until';
import {
	byId,
	core,
	modelGateway,
	startedBy,
	waitForVideo,
	withCredential,
	type Node,
} from '../test/support/workflows/workflows';
import { readExample, withSettings } from '../test/support/workflows/examples';
import { sampleVideo } from '../test/support/data/samples';
import { UsageError } from './measurement';
import { none, print, printTable, type Figure } from './report';
import { startSink, type Sink } from '../test/n8n/sink';
import { median } from './statistics';

interface Settings {
	videos: number;
	/** Seconds that the first video of the list takes, and the last one; the others are spread evenly between. */
	shortest: number;
	longest: number;
}

interface ListedVideo {
	name: string;
	model: string;
	prompt: string;
}

interface Way {
	about: string;
	workflow(videos: ListedVideo[], path: string): WorkflowJson;
}

/** Orders the same list of videos with each way of waiting, all at the same time. */
export async function measureAsReady(settings: Settings): Promise<Figure[]> {
	const { videos, shortest, longest } = settings;
	if (videos < 2 || longest < shortest) {
		throw new UsageError('--videos must be at least 2, and --longest must not be below --shortest');
	}
	const video = await sampleVideo();
	const options = {
		jobSeconds: ({ order }: Job) => Number(/(\d+) s/.exec(order.prompt)?.[1]),
		render: async () => video,
	};
	const sink = await startSink();
	try {
		return await Instance.withGateway(
			options,
			async (instance, gateway) => await orderInAllWays(settings, { instance, gateway, sink }),
		);
	} finally {
		await sink.close();
	}
}

async function orderInAllWays(
	{ videos: count, shortest, longest }: Settings,
	{ instance, gateway, sink }: { instance: Instance; gateway: Gateway; sink: Sink },
): Promise<Figure[]> {
	const secondsOf = (index: number) =>
		Math.round(shortest + ((longest - shortest) * index) / (count - 1));
	const { owner, url } = instance;
	const credential = await owner.createCredential(gateway);
	const ways = waysTo(sink.url);
	const starts = new Map<string, number>();
	for (const [name, { workflow }] of Object.entries(ways)) {
		const videos = Array.from({ length: count }, (_, index) => ({
			name: `${name}-${index}`,
			model: 'vid-3.1',
			prompt: `A boat that takes ${secondsOf(index)} s to be made, ${name}`,
		}));
		await owner.createPublished(withCredential(workflow(videos, name), credential));
		starts.set(name, Date.now());
		await callWebhook(url, name);
	}
	print(`${count} videos of ${shortest} to ${longest} s in each way`);
	const all = count * starts.size;
	await until(() => sink.deliveries.length >= all, longest + 300);
	const rows = Object.entries(ways).map(([name, { about }]) => {
		const own = sink.deliveries.filter(({ name: video }) => video.startsWith(`${name}-`));
		const start = starts.get(name) ?? NaN;
		const after = own.map(({ at }) => (at - start) / 1000);
		const late = own.map(
			({ name: video }, index) => after[index] - secondsOf(Number(video.slice(name.length + 1))),
		);
		const times = [Math.min(...after), median(after), Math.max(...after), median(late)];
		return [about, ...times.map((time) => `${time.toFixed(0)} s`)];
	});
	printTable([['way', 'first', 'median', 'last', 'after its end (median)'], ...rows]);
	return [
		none('videos delivered twice', sink.deliveries.length - all),
		none('charges beyond one per video', gateway.ledger.length - all),
	];
}

function waysTo(sinkUrl: string): Record<string, Way> {
	/** The node after the wait: it sends the name of the video to the sink. */
	const deliver = (video: string): Node =>
		core('Save Video', 'httpRequest', { method: 'PUT', url: `=${sinkUrl}/{{ ${video} }}` }, 4.2);
	const hook = (path: string) =>
		core('Start', 'webhook', { path, responseMode: 'onReceived' }, 2.1);
	const create = modelGateway({
		resource: 'video',
		operation: 'create',
		model: byId('={{ $json.model }}'),
		prompt: '={{ $json.prompt }}',
	});
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
				waitForVideo({ whileWaiting }),
				deliver("$('One Item per Video').item.json.name"),
			);
	/** The example, with a trigger and a last node that can be measured. */
	const apart = (videos: ListedVideo[], path: string): WorkflowJson => {
		const example = withSettings(readExample('one-execution-per-video.json'), { videos });
		const own = [hook(path), deliver("$('One Video').item.json.video.name")];
		const nodes = example.nodes.map((node) => ({
			...node,
			...own.find(({ name }) => name === node.name),
		}));
		return { ...example, nodes };
	};
	return {
		parked: {
			about: 'one Wait for Video for all, parked (default)',
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
