import { GatewayError } from '../../service/errors/gatewayError';
import { sumOf } from '../../service/prices';
import type { EventDetails, EventName } from '../log/nodeLog';
import { isFailure, type Item } from './item';
import type { RunState } from './runState';

/** Logs nothing of other paid requests, since there may be many thousands. */
export function logOrder(
	{ work, log }: RunState,
	event: EventName,
	{ index, job, model, estimate }: Item,
	details: EventDetails = {},
): void {
	if (!work.isOrder) return;
	log.write(event, { item: index, model, job, estimatedCost: estimate, ...details });
}

/** The request has its result, or has failed. Until n8n stores the node's output, only the log has the job. */
export function logSent(run: RunState, item: Item): void {
	const failure = gatewayFailureOf(item.error);
	if (item.result !== undefined) {
		logOrder(run, item.job ? 'order created' : 'order completed', item);
	} else if (failure?.isStopped && failure.billed === 'no') {
		logOrder(run, 'order withdrawn', item);
	} else {
		const isUnknown = failure !== undefined && failure.billed !== 'no';
		logOrder(run, isUnknown ? 'order outcome unknown' : 'order failed', item, { failure });
	}
}

export function logDelivered(run: RunState, item: Item): void {
	const failed = item.outcome?.find(isFailure);
	const failure = gatewayFailureOf(failed?.error);
	if (failed && !failure?.isStopped) logOrder(run, 'download failed', item, { failure });
}

/** Logs one line for each reason, since there may be thousands of items. */
export function logRefused(run: RunState, items: readonly Item[]): void {
	for (const reason of new Set(items.map(reasonOf))) {
		if (reason === undefined) continue;
		const refused = items.filter((item) => reasonOf(item) === reason);
		const costs = refused.flatMap(({ cost }) => cost ?? []);
		const estimatedCost = costs.length > 0 ? sumOf(costs) : undefined;
		logOrder(run, 'order refused', refused[0], { items: refused.length, reason, estimatedCost });
	}
}

const reasonOf = ({ decision }: Item) => (decision?.do === 'refuse' ? decision.because : undefined);

/** Undefined for an error of n8n itself, before anything was sent. */
const gatewayFailureOf = (error: unknown) =>
	error instanceof GatewayError ? error.failure : undefined;
