import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { jobName } from '../shared/gateway/errors/jobSummary';
import { jobKinds } from '../shared/gateway/protocol/jobs';
import { clock } from '../shared/n8n/client/httpClient';
import { StoredJobs } from '../shared/n8n/execution/memory';
import { runItems } from '../shared/n8n/items/run';
import type { DeliveringWork } from '../shared/n8n/items/work';
import { jobsOf, overviewOf, progressHint, workflowTimeoutHint } from './hints';
import { park, waitOutStartupRecovery } from './parking';
import { parkingPolicy, passLength, type PassLength } from './parkingPolicy';
import { WaitPass, type Found } from './pass';
import { waitRequest, type WaitRequest } from './request';
import { nextPollOf } from './schedule';
import { WaitState } from './waitState';

/**
 * Waits for one job per item, side by side, and fetches the files. This is one pass of the wait. All results leave
 * together, with the last pass.
 */
export async function waitForVideos(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	await waitOutStartupRecovery(context);
	const length = lengthOfPass(context);
	const state = new WaitState(context);
	const pass = new WaitPass(context, length, state.earlier);
	// All jobs run at the service anyway: none is to wait for another one here.
	const outputs = await runItems(context, workOf(pass), Infinity);
	const timeoutHint = workflowTimeoutHint(context, pass.longestTimeout);
	if (timeoutHint) context.addExecutionHints(timeoutHint);
	const { items } = pass;
	const nextPoll = nextPollOf(items);
	if (nextPoll === undefined) return outputs;
	const jobs = jobsOf(items);
	// Whoever stops the execution while it is parked finds the jobs in the log, too.
	if (!state.earlier) context.logger.info(`Waiting for ${jobs.map(jobName).join(', ')}`);
	context.addExecutionHints(progressHint(jobs));
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

function workOf(pass: WaitPass): DeliveringWork<WaitRequest, Found> {
	return {
		endpoint: jobKinds.task.endpoint,
		prepare: waitRequest,
		perform: async (request, run) => await pass.find(request, run),
		deliver: async (found, request, run) => await pass.deliver(found, request, run),
	};
}
