import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { sampleVideo } from '../../../engine/support/samples';
import { startGateway } from '../../../gateway';
import { packInto } from '../../../support/packed';
import { Owner } from '../../support/owner';
import { fateOf, outcomeOf, type OrderFate, type Trace } from './fates';
import type { House, OpenHouse } from './houses';
import { isOver, OrderStage, type Plan, type Scene } from './stage';

export interface OrderSweepOptions {
	plans: Plan[];
	/** Whether Stop is pressed for all executions, and how many seconds before n8n ends. */
	stopsBefore?: number;
	/** Milliseconds between those that are begun, or stopped, one after the other. */
	millisecondsApart: number;
	/** Which Retry is pressed: with the original and with the saved workflow, or one of them in turn. */
	retries: 'both' | 'oneOfBoth';
	/** Whether to wait for the videos too: n8n looks for parked executions once a minute. */
	awaitsVideos: boolean;
	report(line: string): void;
}

/**
 * Brings executions that order videos to all moments of an order, ends n8n by SIGKILL, presses Retry for each in
 * both its ways, and looks what became of the orders.
 */
export async function sweepOrders(
	open: OpenHouse,
	options: OrderSweepOptions,
): Promise<OrderFate[]> {
	const { plans, stopsBefore, millisecondsApart, awaitsVideos, report } = options;
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-orders-'));
	const video = await sampleVideo();
	const gateway = await startGateway({ jobSeconds: Infinity });
	let house: House | undefined;
	try {
		house = await open(folder, packInto(folder).tarball);
		report('n8n is ready');
		const stage = new OrderStage(await Owner.of(house), gateway);
		await stage.start(plans);
		report('all are where they should be');
		await stage.startByChance(millisecondsApart);
		if (stopsBefore !== undefined) {
			await stage.stopAll(millisecondsApart);
			await setTimeout(stopsBefore * 1000);
		}
		await house.crash(() => stage.release());
		report('n8n was killed, and runs again');
		stage.owner = await Owner.of(house);
		const traces = new Map<Scene, Trace>();
		for (const scene of stage.scenes) {
			traces.set(scene, { stored: await stage.stored(scene), retries: [] });
		}
		report('n8n knows of them');
		for (const loadWorkflow of [false, true]) {
			for (const [index, [scene, { stored, retries }]] of [...traces].entries()) {
				const isItsTurn = options.retries === 'both' || (index % 2 === 1) === loadWorkflow;
				if (!stored || !isOver(stored) || !isItsTurn) continue;
				const before = stage.sent(scene);
				const retried = await stage.retry(stored, loadWorkflow);
				retries.push(outcomeOf(retried, stage.sent(scene) - before));
			}
		}
		report('Retry was pressed for each');
		for (const { id } of gateway.jobs.list()) gateway.jobs.complete(id, video);
		const fates: OrderFate[] = [];
		for (const [scene, trace] of traces) {
			const over = await stage.executions(scene, awaitsVideos);
			fates.push(fateOf(scene, { ...trace, stage, ...over }));
		}
		return fates;
	} finally {
		await house?.close();
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	}
}
