import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { SteadyClock } from '../shared/service/client/clock';
import { takenUp } from '../shared/service/errors/jobErrors';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import { showHint } from '../shared/n8n/display/hints';
import { messageOf } from '../shared/n8n/errors/errorRecord';
import { isWorker } from '../shared/n8n/execution/engineContext';
import { StoredJobs } from '../shared/n8n/execution/memory';
import { NewestEntries } from '../shared/n8n/execution/processMemory';
import { checkAll } from '../shared/n8n/items/check';
import { withGateway } from '../shared/n8n/items/run';
import { RunState } from '../shared/n8n/items/runState';
import { settle } from '../shared/n8n/items/settle';
import { overviewOf, progressHint, workflowTimeoutHint } from './hints';
import { park } from './park';
import { Pass } from './pass';
import { planPass, type PassLength } from './plan';
import { reading, type WaitRequest } from './request';
import { waitOutStartupRecovery } from './startup';
import { earlierItems, jobOf, nextPollOf, WaitState, type StoredItem } from './state';

/** By the origin of a wait that this process resumed after a restart of n8n: until when its Retries leave it alone. */
const resumed = new NewestEntries<number>(1_000);

/** Milliseconds in which n8n starts a Retry that was pressed before the execution ended. */
const retryDelay = 60_000;

/**
 * Waits for one job per item, side by side, and downloads the files. This is one pass of the wait. The last pass
 * returns all results together.
 *
 * A starting n8n shows an execution that it has just resumed as crashed, and offers a Retry. That would deliver the
 * videos a second time, so it leaves them to the execution.
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

/**
 * A vault or n8n's database may be out of reach for a moment, and n8n says the same of a deleted credential. So this many
 * passes in a row of a wait that has begun, a minute apart or more, try again.
 */
const maxWithoutCredential = 30;
const credentialPause = 60_000;
const triesAgainHint = 'The wait goes on, and reads the credential again in a minute.';

/**
 * One pass, which ends with the outputs of the node, or parks the execution until the next poll.
 * @param canPark false if n8n has not parked this wait although it was asked to
 */
async function runPass(
	context: IExecuteFunctions,
	state: WaitState,
	canPark = !state.isForgotten,
): Promise<INodeExecutionData[][]> {
	// n8n's clock may step during the pass.
	const steady = new SteadyClock(clock);
	const { length, hint } = planPass(context, state.areJobsStored, steady.now(), canPark);
	if (hint !== undefined) showHint(context, hint);
	const run = new RunState(context, reading);
	const pass = new Pass(run, state, length, steady);
	// The jobs run at the service in any case, so no item waits for another one here.
	let hasCredential = false;
	await withGateway(run, Infinity, async (gateway, limiter) => {
		hasCredential = true;
		await pass.loop(gateway, limiter);
	});
	if (!hasCredential) pass.keepDelivered();
	const triesAgain = !hasCredential && !run.isStopped && mayTryAgain(state, length);
	const outputs = triesAgain ? [] : [await settle(run)];
	const items = triesAgain ? earlierItems(state, clock.now()) : pass.items;
	const nextPoll = triesAgain ? clock.now() + credentialPause : nextPollOf(items);
	if (triesAgain) showHint(context, `${messageOf(run.failures[0]?.error)}. ${triesAgainHint}`);
	if (nextPoll !== undefined) {
		state.store(items, hasCredential);
		if (!(await park(context, nextPoll)))
			return await runPass(context, new WaitState(context), false);
		new StoredJobs(context).executionParked();
	}
	// In a worker, each pass has the whole time of the workflow.
	const isTimed = length.name === 'stay' || !isWorker(context);
	const timeoutHint = isTimed && workflowTimeoutHint(context, items);
	if (timeoutHint) showHint(context, timeoutHint);
	if (nextPoll === undefined) return outputs;
	// If the execution is stopped while it is parked, only the log has its jobs.
	for (const [item, stored] of state.earlier ? [] : items)
		if ('poller' in stored) run.log.write('wait parked', { item, job: jobOf(stored) });
	const now = clock.now();
	const forecast = (item: StoredItem) => pass.forecasts.of(item, now);
	showHint(context, progressHint(items, forecast));
	return [overviewOf(items, forecast, now)];
}

/** Whether a pass that could not read the credential leaves its polls to the next one. */
const mayTryAgain = ({ earlier, withoutCredential }: WaitState, { name }: PassLength): boolean =>
	earlier !== undefined && name === 'pollUntil' && withoutCredential < maxWithoutCredential;

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
