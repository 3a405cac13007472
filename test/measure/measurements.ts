import { measurement } from './measurement';

const small = {
	default: false,
	about: 'less of everything: shows that all of it works, not how fast',
};
const seed = { default: '1', about: 'what chance is drawn from' };

/** All that `npm run measure` can be asked for; what a measurement rests on is loaded when it runs. */
export const measurements = [
	measurement({
		name: 'package',
		summary: 'the size of the published package, and how long n8n takes to load it',
		duration: '15 s',
		needs: 'build',
		notes: [
			"medians (least to most), each in a fresh process, by n8n's own loader of packages",
			'n8n without it is measured in the same processes, just before',
		],
		async run() {
			return await (await import('./package/index.js')).measurePackage();
		},
	}),
	measurement({
		name: 'tests',
		summary: 'where the time of `npm test` goes, and how much of the nodes it runs',
		duration: '9 minutes',
		parts: { time: 'of each step and of the slowest files', coverage: 'lines and branches' },
		async run(_, only) {
			return await (await import('./tests/index.js')).measureTests(only);
		},
	}),
	measurement({
		name: 'mutants',
		summary: 'whether a test notices it when the code is changed in one place (Stryker)',
		duration: '3 hours',
		parts: { gateway: 'nodes/shared/gateway', orders: 'nodes/shared/n8n/orders' },
		options: {
			files: { default: '', about: 'a folder of them, such as client; all of them by default' },
			tenth: { default: '', about: '0 to 9: a tenth of the functions; all of them by default' },
			survivors: { default: false, about: 'lists what no test has noticed' },
		},
		async run(settings, only) {
			return await (await import('./tests/mutants.js')).measureMutants(settings, only);
		},
	}),
	measurement({
		name: 'items',
		summary: '20,000 chats and texts through one node: time, memory, and the event loop',
		duration: '3 minutes',
		parts: { chats: 'one request an item', texts: 'a hundred items a request' },
		notes: [
			'a server that answers at once, in a process of its own; each run in a fresh process, warmed up by 200 items',
			'memory in use: after a collection every second; the output alone: as the node ends',
			'a block counts while this process computes, and not while the machine is busy with others',
			'the whole execution: with what n8n does before and after the node, such as copying the items',
			'vectors of 1,536 numbers; the HTTP Request node opens a connection for each item at once, so that 20,000 are too many',
		],
		async run(_, only) {
			return await (await import('./items/index.js')).measureItems(only);
		},
	}),
	measurement({
		name: 'requests',
		summary: 'chats and embeddings of many items, beside axios and the HTTP Request node',
		duration: '5 minutes',
		parts: {
			parallel: 'how well requests in flight are kept up',
			batches: 'what it gains that items share a request',
			firstToken: 'how soon the first words of a streamed chat arrive',
			cpu: 'the work that an item is',
		},
		notes: [
			'the gateway runs in a process of its own; every figure was warmed up',
			'medians (least to most) of rounds in turn; "first token" counts from the start of the execution',
			'CPU is that of the process which runs the engine; axios keeps connections alive, n8n never does',
			'axios in a loop sends one request after another; our node has ten in flight, unless told otherwise',
		],
		async run(_, only) {
			return await (await import('./requests/index.js')).measureRequests(only);
		},
	}),
	measurement({
		name: 'download',
		summary: "a video of 1 GB into n8n's store of files, beside the HTTP Request node",
		duration: '1 minute',
		notes: [
			'medians (least to most), each download in a fresh process; every stored file was read back and deleted',
		],
		async run() {
			return await (await import('./download/index.js')).measureDownload();
		},
	}),
	measurement({
		name: 'waiting',
		summary: 'the time and the polls of twenty videos in one Wait for Video node',
		duration: '30 s',
		notes: [
			'goal of the time: the end of the last video + one poll interval + 1 s',
			'fewest possible: from the first poll of a job, one in each interval until its end is seen',
		],
		async run() {
			return await (await import('./waiting.js')).measureWaiting();
		},
	}),
	measurement({
		name: 'rendering',
		summary: 'the videos that the embedded gateway makes for tests and the demo',
		duration: '15 s',
		async run() {
			return await (await import('./rendering.js')).measureRendering();
		},
	}),
	measurement({
		name: 'orders',
		summary: 'orders of videos with and without the journal of orders, in a complete n8n',
		duration: '2 minutes',
		needs: 'n8n',
		notes: [
			'medians (least to most) of rounds in turn, in two n8n at the same time, one of which has no store',
			'times are those of the webhook that orders, its response included',
		],
		async run() {
			return await (await import('./orders.js')).measureOrders();
		},
	}),
	measurement({
		name: 'latency',
		summary: 'from the end of a video to the next node, kept running and parked, in a complete n8n',
		duration: '8 minutes',
		needs: 'n8n',
		notes: [
			'parked: n8n looks for parked executions once a minute',
			'kept running: the execution is stored once at the beginning, for up to a minute',
		],
		async run() {
			return await (await import('./latency.js')).measureLatency();
		},
	}),
	measurement({
		name: 'as-ready',
		summary: 'how soon each video of a list reaches the next node, in a complete n8n',
		duration: '7 minutes',
		needs: 'n8n',
		options: {
			videos: { default: 20, about: 'how many in each way' },
			shortest: { default: 60, about: 'seconds that the first of the list takes' },
			longest: { default: 300, about: 'seconds that the last of the list takes' },
		},
		async run(settings) {
			return await (await import('./asReady.js')).measureAsReady(settings);
		},
	}),
	measurement({
		name: 'peers',
		summary: "the same work by our nodes and by n8n's OpenAI, Alibaba Cloud and HTTP Request nodes",
		duration: '17 minutes, small 2',
		needs: 'n8n',
		parts: {
			chats: '50 chats in one node',
			embeddings: '1,000 embeddings in one node',
			videos: '3 and 20 videos from the order to the file',
			files: 'the memory for a video of 400 MB, and of 4 GB',
			subNodes: 'a vector store and a chain with our sub-nodes',
		},
		options: {
			rounds: { default: 3, about: 'how often each is done, in turn' },
			small,
			write: { default: false, about: 'writes docs/benchmarks.md and its picture' },
		},
		async run(settings, only) {
			return await (await import('./peers/index.js')).measurePeers(settings, only);
		},
	}),
	measurement({
		name: 'soak',
		summary:
			'whether anything is lost, charged twice or left behind while requests go wrong for long',
		duration: '30 minutes',
		options: {
			minutes: { default: 30, about: 'how long' },
			jobs: { default: 200, about: 'videos in the making at the same time' },
			faults: { default: 5, about: 'of a hundred requests, how many go wrong' },
			seed,
		},
		async run(settings) {
			return await (await import('./soak/index.js')).measureSoak(settings);
		},
	}),
	measurement({
		name: 'simulate',
		summary: 'the poller of a million jobs in simulated time: polls, and the latest moment noticed',
		duration: '1 minute',
		parts: {
			hold: 'keeps running: polls as often as recommended',
			park: 'survives a restart: polls when n8n looks for parked executions, once a minute',
		},
		options: {
			jobs: { default: 1_000_000, about: 'how many' },
			hours: { default: 24, about: 'over how many hours they begin' },
			seed,
		},
		notes: ['one request in twenty goes wrong; nothing is sent'],
		async run(settings, only) {
			return (await import('./simulate.js')).measureSimulation(settings, only);
		},
	}),
	measurement({
		name: 'kills',
		summary: 'what becomes of waits and orders when a complete n8n is killed, stopped or restarted',
		duration: 'about 1 hour',
		needs: 'n8n',
		parts: {
			waits: 'n8n is killed or stopped while videos are awaited',
			orders: 'n8n is killed at every moment of an order',
			stops: 'the same with Stop, and n8n is started again before Retry',
			queue: 'the same with workers, of which one takes over from the other',
		},
		options: {
			rounds: { default: 2, about: 'of waits: how often n8n is ended by each signal' },
			workflows: { default: 22, about: 'of waits: how many are started in a round' },
			seed,
		},
		async run(settings, only) {
			return await (await import('./kills/index.js')).measureKills(settings, only);
		},
	}),
	measurement({
		name: 'scale',
		summary: 'the capacity of n8n in queue mode, on Redis and PostgreSQL, and what it costs',
		duration: '50 minutes, small 3',
		needs: 'n8n',
		parts: {
			kills: 'processes are killed and restarted amid creates, passes and downloads',
			load: 'chats by one worker and by two; many parked and held waits at once',
			latency: 'how late videos are noticed, and what a pass costs, by how many are parked',
			hold: 'more executions than slots, kept running and parked',
			packages: 'workers without the package, or with another version of it',
			redis: 'Redis goes away for half a minute',
			disk: "there is no room left for n8n's files",
			storage: "a large video, with n8n's files in the file system and in the database",
		},
		options: {
			share: {
				default: 1,
				about: 'of what load and latency start, and of how long the videos of hold take',
			},
			small: { ...small, about: 'one worker killed, with few executions' },
			write: { default: false, about: 'writes the figures into docs/capacity.md' },
		},
		async run(settings, only) {
			return await (await import('./scale/index.js')).measureScale(settings, only);
		},
	}),
];
