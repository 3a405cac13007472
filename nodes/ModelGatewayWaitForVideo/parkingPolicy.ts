import type { IExecuteFunctions } from 'n8n-workflow';
import { isTool } from '../shared/n8n/agent/tool';
import { StoredJobs } from '../shared/n8n/execution/memory';
import { callerOf } from './caller';
import { whileWaiting } from './fields';
import { parkingObstacle } from './parking';

/** What a wait does between its polls. */
export type ParkingPolicy =
	/** It lets n8n store the execution each time. */
	| 'park'
	/** It keeps the execution open. */
	| 'stay'
	/** It lets n8n store the execution once and then keeps it open: if n8n is killed, a Retry still has the jobs. */
	| 'storeOnceThenStay';

/** How long one pass of a wait keeps the execution open. */
export type PassLength =
	/** Not at all; it polls nothing. */
	| { name: 'parkAtOnce' }
	/** Until this time, in milliseconds since 1970. The next pass does the polls that are due later. */
	| { name: 'pollUntil'; time: number }
	/** Until the last job has ended. */
	| { name: 'stay' };

/** @returns the policy, and a hint about it for the user */
export function parkingPolicy(context: IExecuteFunctions): {
	policy: ParkingPolicy;
	hint?: string;
} {
	const chosen = context.getNodeParameter(whileWaiting.name, 0, whileWaiting.default);
	const isManual = context.getMode() === 'manual';
	const savesProgress = context.getWorkflowSettings().saveExecutionProgress === true;
	const obstacle = parkingObstacle(context) ?? (chosen === 'park' ? undefined : callerOf(context));
	if (obstacle !== undefined) {
		const isStored = savesProgress || new StoredJobs(context).areAllStored;
		const isHinted = chosen === 'park' || !(isStored || isTool(context.getNode()));
		return { policy: 'stay', ...(isHinted && { hint: obstacleHint(obstacle, isStored) }) };
	}
	if (chosen === 'park' || (chosen === 'auto' && !isManual)) return { policy: 'park' };
	return { policy: savesProgress ? 'stay' : 'storeOnceThenStay' };
}

/**
 * Milliseconds for which a manual run keeps the execution open before n8n stores it, so that a user who tests a short
 * job sees no pause.
 */
const manualRunHoldTime = 15_000;

/**
 * The length of one pass. A policy that parks does so before the first poll if n8n has not stored the jobs yet.
 * @param now milliseconds since 1970
 */
export function passLength(
	policy: ParkingPolicy,
	{ areJobsStored, isManual, now }: { areJobsStored: boolean; isManual: boolean; now: number },
): PassLength {
	switch (policy) {
		case 'stay':
			return { name: 'stay' };
		case 'park':
			return areJobsStored ? { name: 'pollUntil', time: now } : { name: 'parkAtOnce' };
		case 'storeOnceThenStay':
			if (areJobsStored) return { name: 'stay' };
			return isManual
				? { name: 'pollUntil', time: now + manualRunHoldTime }
				: { name: 'parkAtOnce' };
	}
}

function obstacleHint(obstacle: string, isStored: boolean): string {
	const risk = isStored
		? ''
		: ' If n8n stops in the meantime, the execution loses the IDs of its jobs, unless “Save execution progress” is on in the settings of the workflow.';
	return `The node kept running while it waited, because ${obstacle}.${risk}`;
}
