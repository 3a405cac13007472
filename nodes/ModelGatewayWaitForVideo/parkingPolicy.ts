import type { IExecuteFunctions } from 'n8n-workflow';
import { limits } from '../shared/gateway/protocol/limits';
import { isTool } from '../shared/n8n/agent/tool';
import { StoredJobs } from '../shared/n8n/execution/storedJobs';
import { callerOf } from './caller';
import { whileWaiting } from './fields';
import { parkingObstacle } from './parking';

/**
 * How long a manual run keeps the execution open before n8n stores it, once, in milliseconds: who runs a short job
 * by hand then sees no pause.
 */
const beforeStored = 15_000;

/** The end of a pass that polls nothing. */
const atOnce = 0;

/** How long one pass of a wait keeps the execution open before it parks it. */
export interface ParkingPolicy {
	/** Milliseconds since 1970: polls that are due later are left to the next pass. Absent: it never parks. */
	passEndsAt?: number;
	/** What the user should know about it. */
	hints: string[];
}

/**
 * A wait that parks sends the polls that are due; one that keeps running sends all of them. Either one first has
 * n8n store the orders that it has not stored yet: should n8n end, the execution then names its jobs, and its Retry
 * orders nothing.
 * @param now milliseconds since 1970
 */
export function parkingPolicy(context: IExecuteFunctions, now: number): ParkingPolicy {
	const chosen = context.getNodeParameter('whileWaiting', 0, whileWaiting.default);
	const isManual = context.getMode() === 'manual';
	const isParked = new StoredJobs(context).areAllStored;
	const isStored = isParked || context.getWorkflowSettings().saveExecutionProgress === true;
	const obstacle = parkingObstacle(context) ?? (chosen === 'park' ? undefined : callerOf(context));
	const hints = workflowTimeoutHints(context);
	if (obstacle !== undefined) {
		if (chosen === 'park' || !(isStored || isTool(context.getNode()))) {
			hints.push(obstacleHint(obstacle, isStored));
		}
		return { hints };
	}
	if (chosen === 'park' || (chosen === 'auto' && !isManual)) {
		return { passEndsAt: isParked ? now : atOnce, hints };
	}
	if (isStored) return { hints };
	return { passEndsAt: isManual ? now + beforeStored : atOnce, hints };
}

function obstacleHint(obstacle: string, isStored: boolean): string {
	const risk = isStored
		? ''
		: ' If n8n ends meanwhile, the execution loses the IDs of its jobs, unless “Save execution progress” is on in the settings of the workflow.';
	return `The node kept running while it waited, because ${obstacle}.${risk}`;
}

/** n8n counts the time for which an execution is parked, too. */
function workflowTimeoutHints(context: IExecuteFunctions): string[] {
	const { executionTimeout = 0 } = context.getWorkflowSettings();
	if (executionTimeout <= 0) return [];
	const own = Number(context.getNodeParameter('options.timeoutMinutes', 0, limits.waitMinutes));
	const allowed = Math.round(executionTimeout / 6) / 10;
	return allowed < own
		? [
				`“Timeout Workflow” in the settings of the workflow ends it after ${allowed} minutes, and so this wait before its own Timeout of ${own} minutes. Parked time counts, too.`,
			]
		: [];
}
