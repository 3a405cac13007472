import type { IExecuteFunctions, INodeExecutionData, NodeHint } from 'n8n-workflow';
import {
	describeState,
	jobName,
	shownId,
	type JobSummary,
} from '../shared/service/errors/jobSummary';
import { timeOf, usualTime } from '../shared/service/jobs/expectation';
import { withoutUndefined } from '../shared/service/json';
import { phaseOf } from '../shared/service/protocol/jobs';
import type { Forecast } from './request';
import { jobOf, type StoredItem, type StoredItems } from './state';

// Only a tool of an agent, which has no input, has `toolDescription`. An expression that reads a missing input fails.

/** "Endpoints" 2 gives a time for reference videos only. While the node runs, the editor shows nothing of its own. */
export const durationHint: NodeHint = {
	message: `${usualTime('task')} <b>Stop</b> ends this wait, but no video.`,
	displayCondition:
		'={{ !$parameter.toolDescription && (() => { try { return Boolean($input.first().json.output?.task_id ?? $input.first().json.task_id); } catch { return false; } })() }}',
	whenToDisplay: 'beforeExecution',
	location: 'outputPane',
};

/** Shown when the editor has no input for the node, as after a reload: n8n then runs the nodes before it first. */
export const noInputHint: NodeHint = {
	message:
		'<b>Execute step</b> first runs the nodes before this one that have no output yet. A Create among them orders a video, unless its output is pinned (<b>P</b>).',
	displayCondition:
		'={{ !$parameter.toolDescription && (() => { try { return $input.all().length === 0; } catch { return true; } })() }}',
	whenToDisplay: 'beforeExecution',
	location: 'outputPane',
};

const maxShownJobs = 5;

/**
 * While the execution is parked, n8n shows this hint next to the node, and `waitingNodeTooltip` below it.
 * @param forecastOf of a job that is waited for
 */
export function progressHint(
	items: StoredItems,
	forecastOf: (item: StoredItem) => Forecast,
): string {
	const jobs = jobsOf(items);
	const waiting = [...items.values()].filter(({ name }) => name === 'waiting').map(forecastOf);
	const waited = waiting.reduce((longest, forecast) => Math.max(longest, forecast.waited), 0);
	const ready = jobs.filter(({ status = '' }) => phaseOf(status) === 'succeeded').length;
	const time = waited < 10 ? undefined : timeOf(waited);
	const count =
		jobs.length > 1
			? `${ready} of ${jobs.length} ready${time ? ` after ${time}` : ''}.`
			: time && `Waited for ${time}.`;
	const [latest] = waiting.sort((one, other) => lastOf(other) - lastOf(one));
	return [count, latest.text, statusesOf(jobs)].filter(Boolean).join(' ');
}

/** A job without a forecast counts as the latest. */
const lastOf = ({ secondsLeft = Infinity }: Forecast) => secondsLeft;

/** Jobs with the same status share it: there is little room. */
function statusesOf(jobs: JobSummary[]): string {
	const ids = new Map<string, string[]>();
	for (const job of jobs.slice(0, maxShownJobs)) {
		const state = describeState(job);
		ids.set(state, [...(ids.get(state) ?? []), shownId(job.id)]);
	}
	const shown = [...ids].map(([state, some]) => `${some.join(', ')}: ${state}`);
	const left = jobs.length - maxShownJobs;
	if (left > 0) shown.push(`and ${left} more`);
	return `Video ${jobs.length > 1 ? 'jobs' : 'job'} ${shown.join('; ')}`;
}

/** The hint for a wait that n8n ends before its own Timeout. n8n counts the parked time, except in a worker. */
export function workflowTimeoutHint(
	context: IExecuteFunctions,
	items: StoredItems,
): string | undefined {
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	let longest = 0;
	for (const { begun } of items.values()) longest = Math.max(longest, begun?.request.timeout ?? 0);
	const [allowed, own] = [executionTimeout * 1000, longest].map(inMinutes);
	if (executionTimeout <= 0 || allowed >= own) return undefined;
	return `“Timeout Workflow” in the workflow settings stops this wait after ${allowed} min, before its own Timeout of ${own} min.`;
}

const inMinutes = (milliseconds: number) => Math.round(milliseconds / 6_000) / 10;

/** Each job once. If several items have the same job, those that still wait know its newest status. */
function jobsOf(items: StoredItems): JobSummary[] {
	const jobs = new Map<string, JobSummary>();
	for (const item of items.values()) {
		const job = jobOf(item);
		if ('poller' in item || !jobs.has(jobName(job))) jobs.set(jobName(job), job);
	}
	return [...jobs.values()];
}

/** The status of each item's job, which the editor shows as the node's output while the execution is parked. */
export function overviewOf(
	items: StoredItems,
	forecastOf: (item: StoredItem) => Forecast,
	now: number,
): INodeExecutionData[] {
	return [...items].map(([index, item]) => {
		const { id, status, progress } = jobOf(item);
		const isWaiting = item.name === 'waiting';
		const next_poll = isWaiting ? isoTime(item.poller.nextPollAt) : undefined;
		const left = isWaiting ? forecastOf(item).secondsLeft : undefined;
		const expected_at = left === undefined ? undefined : isoTime(now + left * 1000);
		return {
			json: withoutUndefined({ job_id: id, status, progress, expected_at, next_poll }),
			pairedItem: { item: index },
		};
	});
}

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString();
