import { measurement } from './measurement';

const small = {
	default: false,
	about: 'a small run, which only checks that everything works',
};
const seed = { default: '1', about: 'the seed of the random numbers' };

/** All measurements of `npm run measure`. The code of a measurement is loaded when it runs. */
export const measurements = [
	measurement({
		name: 'package',
		summary: 'the size of the published package, and how long n8n takes to load it',
		duration: '15 s',
		needs: 'build',
		notes: [
			"medians (minimum to maximum), each in a fresh process, with n8n's own package loader",
			'n8n without the package is measured in the same processes, just before',
		],
		async run() {
			return await (await import('./package/index.js')).measurePackage();
		},
	}),
	measurement({
		name: 'tests',
		summary: 'where the time of `npm test` goes, and how much of `nodes` it covers',
		duration: '9 minutes',
		parts: {
			time: 'the time of each step and of the slowest files',
			coverage: 'the lines and branches that the tests run',
		},
		async run(_, only) {
			return await (await import('./tests/index.js')).measureTests(only);
		},
	}),
	measurement({
		name: 'lines',
		summary: 'the lines of the code by what they are for',
		duration: '1 s',
		async run() {
			return await (await import('./lines.js')).measureLines();
		},
	}),
	measurement({
		name: 'mutants',
		summary: 'whether a test fails when the code is changed in one place (Stryker)',
		duration: '3 hours',
		parts: {
			gateway: 'nodes/shared/service',
			reader: 'its reader and verdict, by the tables alone',
			orders: 'nodes/shared/n8n/orders',
		},
		options: {
			files: { default: '', about: 'one folder, such as client; all folders by default' },
			tenth: { default: '', about: '0 to 9: a tenth of the functions; all functions by default' },
			survivors: { default: false, about: 'lists the changes that no test noticed' },
		},
		async run(settings, only) {
			return await (await import('./tests/mutants.js')).measureMutants(settings, only);
		},
	}),
	measurement({
		name: 'answers',
		summary: 'how long large responses of every kind block the event loop',
		duration: '2 minutes',
		options: { megabytes: { default: 10, about: 'the size of each response' } },
		notes: [
			'the longest block for each 10 MB, medians; only time in which this process computes',
			'the goal is for what is done beside JSON.parse, which nobody can divide',
		],
		async run(settings) {
			return await (await import('./answers.js')).measureAnswers(settings);
		},
	}),
	measurement({
		name: 'strangers',
		summary: 'what responses of any shape, size, compression and speed can do to n8n together',
		duration: '2 minutes',
		options: {
			seconds: { default: 100, about: 'how long' },
			parallel: { default: 20, about: 'strangers that are asked at the same time' },
			seed,
		},
		notes: [
			'the strangers have their own process; the event loop and the memory are those of the client',
			'V8 may use 600 MB, and the process ends when that is not enough; with more it keeps unused memory for longer',
			'every link in a response leads to a server inside the network, which nobody may ask',
		],
		async run(settings) {
			return await (await import('./strangers/index.js')).measureStrangers(settings);
		},
	}),
	measurement({
		name: 'items',
		summary: '20,000 chats and texts through one node: time, memory, and the event loop',
		duration: '3 minutes',
		parts: { chats: 'one request per item', texts: 'a hundred items per request' },
		notes: [
			'the server responds at once and has its own process; each run has a fresh process, warmed up with 200 items',
			'memory in use: after a garbage collection every second; the output alone: when the node ends',
			'a block counts only while this process computes, not while the machine runs other processes',
			'the whole execution: includes what n8n does before and after the node, such as copying the items',
			'vectors have 1,536 numbers; the HTTP Request node opens a connection for every item at once, so it only gets 2,000',
		],
		async run(_, only) {
			return await (await import('./items/index.js')).measureItems(only);
		},
	}),
	measurement({
		name: 'requests',
		summary: 'chats and embeddings of many items, compared with axios and the HTTP Request node',
		duration: '5 minutes',
		parts: {
			parallel: 'how well the node keeps its requests in flight',
			batches: 'how much time items save when they share a request',
			firstToken: 'how soon the first words of a streamed chat arrive',
			cpu: 'the CPU time of an item',
		},
		notes: [
			'the gateway runs in its own process; everything is warmed up before it is measured',
			'medians (minimum to maximum) of alternating rounds; "first token" counts from the start of the execution',
			'CPU: that of the process that runs the engine; axios keeps connections alive, n8n never does',
			'axios in a loop sends one request after another; our node has ten in flight, unless stated otherwise',
		],
		async run(_, only) {
			return await (await import('./requests/index.js')).measureRequests(only);
		},
	}),
	measurement({
		name: 'download',
		summary:
			"a download of 1 GB into n8n's binary data storage, compared with the HTTP Request node",
		duration: '1 minute',
		notes: [
			'medians (minimum to maximum), each download in a fresh process; every stored file is read back',
		],
		async run() {
			return await (await import('./download/index.js')).measureDownload();
		},
	}),
	measurement({
		name: 'waiting',
		summary: 'how long one Wait for Video node takes for twenty videos, and how often it polls',
		duration: '30 s',
		notes: [
			'goal for the time: the end of the last video + one poll interval + 1 s',
			'fewest possible: the first poll of a job, then one per interval until its end is noticed',
		],
		async run() {
			return await (await import('./waiting.js')).measureWaiting();
		},
	}),
	measurement({
		name: 'expectations',
		summary: 'how often the time that Wait for Video says first is near the true one',
		duration: '15 s',
		options: { seed },
		notes: [
			'a simulation: four kinds of job, 60 of each in a run; the first ten of each do not count',
			'usual spread: eight of ten jobs of 210 s take 173 to 255 s; wide: 152 to 289 s. Nobody knows the true spread',
			'slow hour: 12 of 60 jobs take twice as long; nothing tells it before the first of them has ended',
		],
		async run(settings) {
			return await (await import('./expectations.js')).measureExpectations(settings);
		},
	}),
	measurement({
		name: 'rendering',
		summary: 'how fast the embedded gateway makes videos for tests and the demo',
		duration: '15 s',
		async run() {
			return await (await import('./rendering.js')).measureRendering();
		},
	}),
	measurement({
		name: 'orders',
		summary: 'video orders with and without the ledger of orders, in a complete n8n',
		duration: '2 minutes',
		needs: 'n8n',
		notes: [
			'medians (minimum to maximum) of alternating rounds, in two n8n at the same time, one without the store',
			'time: from the call of the webhook that orders to its response',
		],
		async run() {
			return await (await import('./orders.js')).measureOrders();
		},
	}),
	measurement({
		name: 'journal',
		summary:
			"the record of orders over 10,000 executions of one process, and its calls of n8n's store",
		duration: '15 s',
		notes: [
			'medians of 500 executions, each with one order and a result of 4 kB; without the time of n8n and its store',
			'memory: after a garbage collection; the process keeps 32 MB of JSON at most',
			'calls: the most of an order but the first; after a restart: of a process that starts after 100 orders',
		],
		async run() {
			return await (await import('./journal.js')).measureJournal();
		},
	}),
	measurement({
		name: 'latency',
		summary:
			'the time from the end of a video to the next node, kept running and parked, in a complete n8n',
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
			videos: { default: 20, about: 'videos for each way of waiting' },
			shortest: { default: 60, about: 'seconds that the first video of the list takes' },
			longest: { default: 300, about: 'seconds that the last video of the list takes' },
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
			rounds: { default: 3, about: 'how often each way is run, alternately' },
			small,
			write: { default: false, about: 'writes lab/benchmarks.md and its chart' },
		},
		async run(settings, only) {
			return await (await import('./peers/index.js')).measurePeers(settings, only);
		},
	}),
	measurement({
		name: 'soak',
		summary:
			'whether anything is lost, charged twice or left behind while requests fail for a long time',
		duration: '30 minutes',
		options: {
			minutes: { default: 30, about: 'how long' },
			jobs: { default: 200, about: 'videos being made at the same time' },
			faults: { default: 5, about: 'percent of the requests that meet a fault' },
			seed,
		},
		async run(settings) {
			return await (await import('./soak/index.js')).measureSoak(settings);
		},
	}),
	measurement({
		name: 'kills',
		summary: 'what happens to waits and orders when a complete n8n is killed, stopped or restarted',
		duration: 'about 1 hour',
		needs: 'n8n',
		parts: {
			waits: 'n8n is killed or stopped while it waits for videos',
			orders: 'n8n is killed at every moment of an order',
			stops: 'the same after Stop; n8n is restarted before Retry',
			queue: 'the same with two workers: the second takes over from the first',
		},
		options: {
			rounds: { default: 2, about: 'for waits: how often n8n is stopped with each signal' },
			workflows: { default: 22, about: 'for waits: workflows that are started in a round' },
			seed,
			write: { default: false, about: 'writes docs/versions.md: what this version has passed' },
		},
		async run(settings, only) {
			return await (await import('./kills/index.js')).measureKills(settings, only);
		},
	}),
	measurement({
		name: 'nights',
		summary:
			'five nights of the list example while half of the jobs fail, and what becomes of each row',
		duration: '8 minutes',
		needs: 'n8n',
		options: { rows: { default: 60, about: 'new products in each night' }, seed },
		notes: [
			'the form that orders failed products again is used in each morning; n8n is killed in the third night',
			'some orders are refused, some responses are lost, some polls and downloads break off',
		],
		async run(settings) {
			return await (await import('./nights.js')).measureNights(settings);
		},
	}),
	measurement({
		name: 'budgets',
		summary: 'orders of clients with a budget each, in two workers that are killed now and then',
		duration: '4 minutes',
		needs: 'n8n',
		options: {
			orders: { default: 200, about: 'orders of all clients together' },
			clients: { default: 5, about: 'clients' },
			limit: { default: 30, about: 'maximum orders of each client in a month' },
			kills: { default: 2, about: 'how often a worker is killed' },
		},
		async run(settings) {
			return await (await import('./budgets.js')).measureBudgets(settings);
		},
	}),
	measurement({
		name: 'spans',
		summary: 'what a collector receives of the spans of orders, and whether a secret is in it',
		duration: '1 minute',
		needs: 'n8n',
		options: { orders: { default: 50, about: 'orders, each in an execution' } },
		notes: ['n8n adds the attributes of a node only with a license'],
		async run(settings) {
			return await (await import('./spans.js')).measureSpans(settings);
		},
	}),
	measurement({
		name: 'bursts',
		summary:
			'whether anything is charged twice when workers run a new node at the same moment, or PostgreSQL restarts',
		duration: '10 minutes',
		needs: 'n8n',
		parts: {
			bursts: 'the first executions of a node, in two and in four workers at the same moment',
			restarts: 'PostgreSQL restarts while orders are recorded',
		},
		options: {
			rounds: { default: 50, about: 'for bursts: new nodes for each number of workers' },
			recordings: {
				default: 50,
				about: 'for restarts: recordings during which PostgreSQL restarts',
			},
		},
		notes: [
			'three in four nodes send orders that get no response before a worker is killed; Retry is then pressed twice',
			'every second node has an Order Key, and its executions order the same video',
			'stuck: a video that neither Retry nor a new execution orders, an execution without a clear end, a node that does not run afterwards',
		],
		async run(settings, only) {
			return await (await import('./bursts/index.js')).measureBursts(settings, only);
		},
	}),
	measurement({
		name: 'scale',
		summary:
			'the capacity of n8n in queue mode, with Redis and PostgreSQL, and the resources it uses',
		duration: '75 minutes, small 3',
		needs: 'n8n',
		parts: {
			kills: 'processes are killed and restarted during creates, passes and downloads',
			restarts:
				'restarts and failures of workers, PostgreSQL and n8n while executions wait for videos',
			load: 'chats with one worker and with two; many parked and held waits at once',
			latency: 'how late videos are noticed, and what a pass costs, by the number of parked waits',
			hold: 'more executions than slots, kept running and parked',
			packages: 'workers without the package, or with another version of it',
			redis: 'Redis is unavailable for half a minute',
			disk: "no disk space is left for n8n's files",
			storage: "a large video, with n8n's files in the file system and in the database",
		},
		options: {
			share: {
				default: 1,
				about: 'a factor for what load and latency start, and for how long the videos of hold take',
			},
			restart: { default: '', about: 'of the restarts, those whose titles match this pattern' },
			small: { ...small, about: 'one worker killed, with few executions' },
			write: { default: false, about: 'writes the figures into lab/capacity.md' },
		},
		async run(settings, only) {
			return await (await import('./scale/index.js')).measureScale(settings, only);
		},
	}),
];
