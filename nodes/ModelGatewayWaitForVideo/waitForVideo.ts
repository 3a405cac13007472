import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { SteadyClock } from '../shared/service/client/steadyClock';
import { takenUp } from '../shared/service/errors/jobErrors';
import { jobKinds } from '../shared/service/protocol/jobs';
import { clock, stopSignalOf } from '../shared/n8n/client/httpClient';
import { showHint } from '../shared/n8n/display/hints';
import { runItems } from '../shared/n8n/items/run';
import type { DeliveringWork, DirectWork } from '../shared/n8n/items/work';
import { jobsOf, overviewOf, progressHint, workflowTimeoutHint } from './hints';
import { isWorker } from '../shared/n8n/execution/engineContext';
import { StoredJobs } from '../shared/n8n/execution/memory';
import { NewestEntries } from '../shared/n8n/execution/processMemory';
import { park } from './park';
import { WaitPass, type WaitResult } from './pass';
import { planPass } from './plan';
import { waitRequest, type WaitRequest } from './request';
import { waitOutStartupRecovery } from './startup';
import { nextPollOf, WaitState } from './state';

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
		return await runItems(context, leavingItTo(storedBy), Infinity);
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

async function runPass(
	context: IExecuteFunctions,
	state: WaitState,
	canPark = !state.isForgotten,
): Promise<INodeExecutionData[][]> {
	const steady = new SteadyClock(clock);
	const { length, hint } = planPass(context, state.areJobsStored, steady.now(), canPark);
	if (hint !== undefined) showHint(context, hint);
	const pass = new WaitPass(context, length, state, steady);
	// The jobs run at the service in any case, so no item waits for another one here.
	const outputs = await runItems(context, workOf(pass), Infinity);
	const { items } = pass;
	const nextPoll = nextPollOf(items);
	if (nextPoll !== undefined) {
		state.store(items);
		if (!(await park(context, nextPoll))) {
			return await runPass(context, new WaitState(context), false);
		}
		new StoredJobs(context).executionParked();
	}
	// In a worker, each pass has the whole time of the workflow.
	const isTimed = length.name === 'stay' || !isWorker(context);
	const timeoutHint = isTimed && workflowTimeoutHint(context, pass.longestTimeout);
	if (timeoutHint) showHint(context, timeoutHint);
	if (nextPoll === undefined) return outputs;
	if (!state.earlier) pass.logParked();
	showHint(context, progressHint(jobsOf(items)));
	return [overviewOf(items)];
}

function workOf(pass: WaitPass): DeliveringWork<WaitRequest, WaitResult> {
	return {
		endpoint: jobKinds.task.endpoint,
		prepare: waitRequest,
		perform: async (request, run) => await pass.wait(request, run),
		deliver: async (result, request, run) => await pass.deliver(result, request, run),
	};
}

function leavingItTo(execution: string): DirectWork<WaitRequest> {
	return {
		endpoint: jobKinds.task.endpoint,
		prepare: waitRequest,
		perform: async ({ id, kind }) => {
			throw takenUp({ id, kind }, execution);
		},
	};
}
