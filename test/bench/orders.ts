import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startN8n, type N8n } from '../e2e/support/n8n';
import { ensureInstallation } from '../e2e/support/installation';
import { fetchPublished, Owner } from '../e2e/support/owner';
import { byId, core, modelGateway, startedBy } from '../e2e/support/workflows';
import { startGateway, type Gateway } from '../gateway';
import { packInto } from '../support/packed';
import type { Figure } from './report';
import { median, spread } from './statistics';

const rounds = 5;
const creates = 100;
/** As many orders as n8n's store keeps of a node. */
const fullStore = 10_000;
const ledgerLine = 'journal of orders: ';

/** What replaces the store of processed items in an installed package. */
const variants = {
	/** Tells each call of the store. */
	with: `
const { inTurn } = exports.DatabaseShelf.prototype;
exports.DatabaseShelf.prototype.inTurn = async function (call) {
	console.log('${ledgerLine}');
	return await inTurn.call(this, call);
};`,
	/** Sends orders as if there were no store. */
	without: `
exports.DatabaseShelf.prototype.record = async () => [];
exports.DatabaseShelf.prototype.keepOnly = async () => undefined;`,
};
type Variant = keyof typeof variants;

/** An n8n whose workflow orders one video for each entry of the list that it is given. */
class Orders {
	private constructor(
		private readonly n8n: N8n,
		private readonly hook: string,
	) {}

	static async start(variant: Variant, gateway: Gateway, folder: string) {
		const home = path.join(folder, variant);
		const n8n = await startN8n({ folder: home, tarball: packVariant(variant, home) });
		const owner = await Owner.of(n8n);
		const credential = await owner.createCredential(gateway);
		const start = { httpMethod: 'POST', path: 'orders', responseMode: 'lastNode' };
		const video = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
		await owner.publish(
			await owner.createWorkflow(
				startedBy(
					core('Start', 'webhook', start, 2),
					core('Split', 'splitOut', { fieldToSplitOut: 'body.prompts' }),
					modelGateway({ ...video, prompt: '={{ $json["body.prompts"] }}' }, credential, 'Create'),
				),
			),
		);
		return new Orders(n8n, `${n8n.url}/webhook/orders`);
	}

	/** @returns milliseconds */
	async order(items: number): Promise<number> {
		const prompts = Array.from({ length: items }, (_, item) => `Video ${item}`);
		const started = performance.now();
		const answer = await fetchPublished(this.hook, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ prompts }),
		});
		if (!answer.ok) throw new Error(`The orders failed: ${await answer.text()}`);
		await answer.arrayBuffer();
		return performance.now() - started;
	}

	/** One execution for each. */
	async orderEach(items: number): Promise<number> {
		let total = 0;
		for (let item = 0; item < items; item++) total += await this.order(1);
		return total;
	}

	/** How often the store was called so far. */
	get calls(): number {
		return readFileSync(this.n8n.logFile, 'utf8').split(ledgerLine).length - 1;
	}

	async stop(): Promise<void> {
		await this.n8n.stop();
	}
}

/** The package with another store, as users would install it. */
function packVariant(variant: Variant, folder: string): string {
	mkdirSync(folder);
	const packed = packInto(folder);
	const store = path.join(packed.folder, 'dist/nodes/shared/n8n/orders/database.js');
	appendFileSync(store, variants[variant]);
	execFileSync('tar', ['-czf', packed.tarball, '-C', folder, path.basename(packed.folder)]);
	return packed.tarball;
}

/** What the journal of orders costs in a complete n8n: 100 creates with it, and with its store taken out. */
export async function benchOrders(): Promise<Figure[]> {
	await ensureInstallation();
	const folder = mkdtempSync(path.join(tmpdir(), 'bench-orders-'));
	const gateway = await startGateway({
		jobSeconds: Infinity,
		render: async () => new Uint8Array(0),
	});
	const [book, plain] = await Promise.all([
		Orders.start('with', gateway, folder),
		Orders.start('without', gateway, folder),
	]);
	const compare = async (figure: string, order: (of: Orders) => Promise<number>) => {
		const times = { with: [] as number[], without: [] as number[] };
		for (let round = -1; round < rounds; round++) {
			const [ours, others] = [await order(book), await order(plain)];
			// The first round warms up.
			if (round < 0) continue;
			times.with.push(ours);
			times.without.push(others);
		}
		const more = (median(times.with) - median(times.without)) / creates;
		return [
			{ figure: `${figure}, without the journal of orders`, value: spread(times.without, 'ms') },
			{
				figure: `${figure}, with it`,
				value: `${spread(times.with, 'ms')}, ${more.toFixed(2)} ms each`,
			},
		];
	};
	try {
		const figures = [
			...(await compare('100 creates in one execution', (of) => of.order(creates))),
			...(await compare('100 executions of one create', (of) => of.orderEach(creates))),
		];
		const before = book.calls;
		for (let run = 0; run < 10; run++) await book.order(10);
		const calls = (book.calls - before) / 10;
		for (let sent = 0; sent < fullStore; sent += 500) await book.order(500);
		return [
			...figures,
			{
				figure: 'calls of n8n’s store in a run',
				value: String(calls),
				goal: 'at most 2',
				met: calls <= 2,
			},
			...(await compare('100 executions, the store full', (of) => of.orderEach(creates))),
		];
	} finally {
		await Promise.all([book.stop(), plain.stop()]);
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	}
}
