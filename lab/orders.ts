import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { startGateway, type Gateway } from '../gateway';
import { Instance } from './n8n/instance';
import { fetchPublished } from '../test/n8n/owner';
import {
	byId,
	core,
	modelGateway,
	startedByWebhook,
	withCredential,
} from '../test/support/workflows/workflows';
import { withFolder } from './folder';
import { packWith } from './n8n/packWith';
import { atMost, type Figure } from './report';
import { inTurns, median, spread } from './statistics';

const rounds = 5;
const creates = 100;
/** The number of orders, of three entries each, that fill n8n's store. */
const fullStore = 7_000;
const callLine = 'a call of the store of processed items';
const marks = 'nodes/shared/n8n/orders/marks.js';
const store = 'nodes/shared/n8n/orders/storeCalls.js';

/** Changes to the installed package, by file. */
const variants = {
	/** Prints a line at each call of the store. */
	with: {
		[store]: `
const { make } = exports.StoreCalls.prototype;
exports.StoreCalls.prototype.make = async function (call) {
	console.log('${callLine}');
	return await make.call(this, call);
};`,
	},
	/** Places orders as if there were no store. */
	without: {
		[marks]: `
for (const method of ['findKeys', 'take', 'keepOnly'])
	exports.Marks.prototype[method] = async () => undefined;
exports.Marks.prototype.findSent = async () => [];`,
	},
};
type Variant = keyof typeof variants;

/** An n8n whose workflow orders one video for each entry of the list that it is given. */
class Orders {
	private constructor(private readonly instance: Instance) {}

	static async start(variant: Variant, gateway: Gateway, folder: string) {
		const home = path.join(folder, variant);
		mkdirSync(home);
		const tarball = packWith(home, variants[variant]);
		const instance = await Instance.open(home, { tarball });
		const { owner } = instance;
		const credential = await owner.createCredential(gateway);
		const start = { httpMethod: 'POST', path: 'orders', responseMode: 'lastNode' };
		const video = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
		await owner.createPublished(
			withCredential(
				startedByWebhook(
					start,
					core('Split', 'splitOut', { fieldToSplitOut: 'body.prompts' }),
					modelGateway({ ...video, prompt: '={{ $json["body.prompts"] }}' }, { name: 'Create' }),
				),
				credential,
			),
		);
		return new Orders(instance);
	}

	/** @returns milliseconds */
	async order(items: number): Promise<number> {
		const prompts = Array.from({ length: items }, (_, item) => `Video ${item}`);
		const started = performance.now();
		const response = await fetchPublished(`${this.instance.url}/webhook/orders`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ prompts }),
		});
		if (!response.ok) throw new Error(`The orders failed: ${await response.text()}`);
		await response.arrayBuffer();
		return performance.now() - started;
	}

	/** Orders each item in its own execution. @returns milliseconds */
	async orderEach(items: number): Promise<number> {
		let total = 0;
		for (let item = 0; item < items; item++) total += await this.order(1);
		return total;
	}

	/** The number of calls of the store so far. */
	get calls(): number {
		return readFileSync(this.instance.logFile, 'utf8').split(callLine).length - 1;
	}

	async stop(): Promise<void> {
		await this.instance.end();
	}
}

/** Measures what the record of orders costs in a complete n8n: 100 creates with it, and without its store. */
export async function measureOrders(): Promise<Figure[]> {
	const gateway = await startGateway({
		jobSeconds: Infinity,
		render: async () => new Uint8Array(0),
	});
	return await withFolder('measure-orders', async (folder) => {
		const [recorded, plain] = await Promise.all([
			Orders.start('with', gateway, folder),
			Orders.start('without', gateway, folder),
		]);
		try {
			return await figures(recorded, plain);
		} finally {
			await Promise.all([recorded.stop(), plain.stop(), gateway.close()]);
		}
	});
}

async function figures(recorded: Orders, plain: Orders): Promise<Figure[]> {
	const compare = async (figure: string, order: (of: Orders) => Promise<number>) => {
		const times = await inTurns(
			{ with: async () => await order(recorded), without: async () => await order(plain) },
			{ rounds, warmUps: 1 },
		);
		const more = (median(times.with) - median(times.without)) / creates;
		return [
			{ figure: `${figure}, without the record of orders`, value: spread(times.without, 'ms') },
			{
				figure: `${figure}, with it`,
				value: `${spread(times.with, 'ms')}, ${more.toFixed(2)} ms each`,
			},
		];
	};
	const atOnce = await compare('100 creates in one execution', (of) => of.order(creates));
	const apart = await compare('100 executions of one create', (of) => of.orderEach(creates));
	const before = recorded.calls;
	for (let run = 0; run < 10; run++) await recorded.order(10);
	const calls = (recorded.calls - before) / 10;
	if (calls === 0) throw new Error('No call of the store was printed');
	for (let sent = 0; sent < fullStore; sent += 500) await recorded.order(500);
	return [
		...atOnce,
		...apart,
		atMost('calls of n8n’s store in a run', calls, 2, { digits: 1 }),
		...(await compare('100 executions, the store full', (of) => of.orderEach(creates))),
	];
}
