import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { takenUp } from '../shared/service/errors/jobErrors';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import { NewestEntries } from '../shared/n8n/execution/processMemory';
import { checkAll } from '../shared/n8n/items/check';
import { withGateway } from '../shared/n8n/items/run';
import { RunState } from '../shared/n8n/items/runState';
import { settle } from '../shared/n8n/items/settle';
import { runPass } from './pass';
import { reading, type WaitRequest } from './request';
import { waitOutStartupRecovery } from './startup';
import { WaitState } from './state';

/** By the origin of a wait that this process resumed after a restart of n8n: until when its Retries leave it alone. */
const resumed = new NewestEntries<number>(1_000);

/** Milliseconds in which n8n starts a Retry that was pressed before the execution ended. */
const retryDelay = 60_000;

/**
 * Waits for one job per item, side by side, and downloads the files. This is one pass of the wait. The last pass
 * returns all results together.
 *
 * A starting n8n shows an execution that it has just resumed as crashed, and offers a Retry, which would deliver the
 * videos a second time. So such a Retry leaves them to the execution.
 */
export async function waitForVideos(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	const state = new WaitState(context);
	const { execution, storedBy = execution, origin = '' } = state;
	if (storedBy !== execution && clock.now() < (resumed.get(origin) ?? 0)) {
		return await leaveTo(storedBy, context);
	}
	if (!state.mayShowAsCrashed) return await runPass(context, state);
	if (state.earlier) resumed.set(origin, Infinity);
	await waitOutStartupRecovery(context);
	try {
		return await runPass(context, state);
	} finally {
		// A stopped execution goes no further.
		const isStopped = stopSignalOf(context)?.aborted ?? false;
		if (state.earlier) resumed.set(origin, isStopped ? 0 : clock.now() + retryDelay);
	}
}

/** Ends every item without a request. */
async function leaveTo(
	execution: string,
	context: IExecuteFunctions,
): Promise<INodeExecutionData[][]> {
	const run = new RunState(context, reading);
	await withGateway(run, Infinity, async (gateway) => {
		await checkAll(run, gateway);
		for (const item of run.open) {
			if (run.isFailing || run.isStopped) return;
			const { id, kind } = item.request as WaitRequest;
			item.outcome = [run.fail(item, takenUp({ id, kind }, execution))];
		}
	});
	return [await settle(run)];
}
