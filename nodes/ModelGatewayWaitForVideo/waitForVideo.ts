import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { jobKinds } from '../shared/gateway/protocol/jobs';
import { clock } from '../shared/n8n/client/httpClient';
import { StoredJobs } from '../shared/n8n/execution/memory';
import { runItems } from '../shared/n8n/items/run';
import type { DeliveringWork } from '../shared/n8n/items/work';
import { jobsOf, overviewOf, progressHint, workflowTimeoutHint } from './hints';
import { park, waitOutStartupRecovery } from './parking';
import { parkingPolicy, passLength, type PassLength } from './parkingPolicy';
import { WaitPass, type WaitResult } from './pass';
import { waitRequest, type WaitRequest } from './request';
import { nextPollOf } from './schedule';
import { WaitState } from './waitState';

/**
 * Waits for one job per item, side by side, and downloads the files. This is one pass of the wait. The last pass
 * returns all results together.
 */
export async function waitForVideos(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	await waitOutStartupRecovery(context);
	const length = lengthOfPass(context);
	const state = new WaitState(context);
	const pass = new WaitPass(context, length, state.earlier);
	// The jobs run at the service in any case, so no item waits for another one here.
	const outputs = await runItems(context, workOf(pass), Infinity);
	const timeoutHint = workflowTimeoutHint(context, pass.longestTimeout);
	if (timeoutHint) context.addExecutionHints(timeoutHint);
	const { items } = pass;
	const nextPoll = nextPollOf(items);
	if (nextPoll === undefined) return outputs;
	if (!state.earlier) pass.logParked();
	context.addExecutionHints(progressHint(jobsOf(items)));
	state.store(items);
	await park(context, nextPoll);
	return [overviewOf(items)];
}

function lengthOfPass(context: IExecuteFunctions): PassLength {
	const { policy, hint: message } = parkingPolicy(context);
	if (message !== undefined) context.addExecutionHints({ message, location: 'outputPane' });
	return passLength(policy, {
		areJobsStored: new StoredJobs(context).areAllStored,
		isManual: context.getMode() === 'manual',
		now: clock.now(),
	});
}

function workOf(pass: WaitPass): DeliveringWork<WaitRequest, WaitResult> {
	return {
		endpoint: jobKinds.task.endpoint,
		prepare: waitRequest,
		perform: async (request, run) => await pass.wait(request, run),
		deliver: async (result, request, run) => await pass.deliver(result, request, run),
	};
}
