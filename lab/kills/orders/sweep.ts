import { setTimeout } from 'node:timers/promises';
import { startGateway, type Gateway } from '../../../gateway';
import { withFolder } from '../../folder';
import { packInto } from '../../../test/support/files/packed';
import { sampleVideo } from '../../../test/support/data/samples';
import { Owner } from '../../../test/n8n/owner';
import { fateOf, outcomeOf, type OrderFate, type Trace } from './fates';
import type { Killable, OpenKillable } from './killable';
import { isOver, Scenes, type Plan, type Scene } from './scenes';

export interface OrderSweepOptions {
	plans: Plan[];
	/** If set, Stop is pressed for all executions, this many seconds before the kill. */
	stopsBefore?: number;
	/** Milliseconds between two executions that are started or stopped. */
	millisecondsApart: number;
	/** Which Retry is pressed: with the original and with the saved workflow, or alternately one of them. */
	retries: 'both' | 'oneOfBoth';
	/** Whether to wait for the videos, too: n8n looks for parked executions only once a minute. */
	awaitsVideos: boolean;
	report(line: string): void;
}

/**
 * Brings executions that order videos to all moments of an order, kills n8n, presses Retry for each, and checks the
 * outcome of the orders.
 */
export async function sweepOrders(
	open: OpenKillable,
	options: OrderSweepOptions,
): Promise<OrderFate[]> {
	const gateway = await startGateway({ jobSeconds: Infinity });
	try {
		return await withFolder('n8n-orders', async (folder) => {
			const n8n = await open(folder, packInto(folder).tarball);
			try {
				return await sweep(n8n, gateway, options);
			} finally {
				await n8n.close();
			}
		});
	} finally {
		await gateway.close();
	}
}

async function sweep(
	n8n: Killable,
	gateway: Gateway,
	{ plans, stopsBefore, millisecondsApart, retries, awaitsVideos, report }: OrderSweepOptions,
): Promise<OrderFate[]> {
	report('n8n is ready');
	const scenes = new Scenes(await Owner.of(n8n), gateway);
	await scenes.start(plans);
	report('all executions have reached their moments');
	await scenes.startAtRandom(millisecondsApart);
	if (stopsBefore !== undefined) {
		await scenes.stopAll(millisecondsApart);
		await setTimeout(stopsBefore * 1000);
	}
	await n8n.crash(() => scenes.release());
	report('n8n was killed and runs again');
	scenes.owner = await Owner.of(n8n);
	const traces = new Map<Scene, Trace>();
	for (const scene of scenes.all) {
		traces.set(scene, { stored: await scenes.stored(scene), retries: [] });
	}
	report('n8n has stored how they ended');
	for (const loadWorkflow of [false, true]) {
		for (const [index, [scene, trace]] of [...traces].entries()) {
			const isChosen = retries === 'both' || (index % 2 === 1) === loadWorkflow;
			if (!trace.stored || !isOver(trace.stored) || !isChosen) continue;
			const before = scenes.sent(scene);
			const retried = await scenes.retry(trace.stored, loadWorkflow);
			trace.retries.push(outcomeOf(retried, scenes.sent(scene) - before));
		}
	}
	report('Retry was pressed for each');
	const video = await sampleVideo();
	for (const { id } of gateway.jobs.list()) gateway.jobs.complete(id, video);
	const fates: OrderFate[] = [];
	for (const [scene, trace] of traces) {
		const over = await scenes.executions(scene, awaitsVideos);
		fates.push(fateOf(scene, { ...trace, scenes, ...over }));
	}
	return fates;
}
