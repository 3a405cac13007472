import type { IExecuteFunctions, NodeExecutionHint, NodeHint } from 'n8n-workflow';
import { describeProgress, type JobSummary } from '../shared/gateway/errors/jobSummary';

/**
 * Before a run, when the editor has no input for the node, as after its page was loaded anew: n8n then runs the
 * nodes before it first. An expression that reads the missing input fails. A tool of an agent, which alone has a
 * description for its model, has no input at all.
 */
export const noInputHint: NodeHint = {
	message:
		'<b>Execute step</b> first runs the nodes before this one that have no output yet. A Create among them orders a video, which costs money, unless its output is pinned (<b>P</b>). A video that was ordered already is collected by its ID, in a workflow without Create.',
	displayCondition:
		'={{ !$parameter.toolDescription && (() => { try { return $input.all().length === 0; } catch { return true; } })() }}',
	whenToDisplay: 'beforeExecution',
	location: 'outputPane',
};

/** How many jobs are named at most. */
const shownJobs = 5;

/** While the execution is parked, n8n shows this beside the node, and `waitingNodeTooltip` below. */
export function progressHint(jobs: JobSummary[]): NodeExecutionHint {
	const shown = jobs.slice(0, shownJobs).map(describeProgress);
	const left = jobs.length - shown.length;
	const rest = left > 0 ? [`and ${left} more`] : [];
	return { message: [...shown, ...rest].join('; '), location: 'outputPane' };
}

/**
 * Where the workflow times out before the wait does; n8n counts the time for which an execution is parked, too.
 * @param longest of the timeouts of all items, in milliseconds
 */
export function workflowTimeoutHint(
	context: IExecuteFunctions,
	longest: number,
): NodeExecutionHint | undefined {
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	const [allowed, own] = [executionTimeout * 1000, longest].map(inMinutes);
	if (executionTimeout <= 0 || allowed >= own) return undefined;
	return {
		message: `“Timeout Workflow” in the settings of the workflow ends it after ${allowed} minutes, and so this wait before its own Timeout of ${own} minutes. Parked time counts, too.`,
		location: 'outputPane',
	};
}

const inMinutes = (milliseconds: number) => Math.round(milliseconds / 6_000) / 10;
