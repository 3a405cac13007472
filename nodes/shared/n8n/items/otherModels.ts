import type { Connection } from '../../service/client/connection';
import { idempotencyKeyOf } from '../../service/client/idempotency';
import { GatewayError } from '../../service/errors/gatewayError';
import { mayTryOtherModel } from '../../service/errors/refusal';
import { excerpt } from '../../service/json';
import { messageOf } from '../errors/errorRecord';
import type { Item, OtherModel } from './item';
import { logOrder } from './orderLog';
import type { RunState } from './runState';

/**
 * Sends the request of an item. If the service refuses its model and made nothing, it sends that of the next model in the
 * same order.
 * @param perform sends the request that the item has then
 * @throws the failure of the last model that was tried
 */
export async function performWithModels<Result>(
	run: RunState,
	item: Item,
	connection: Connection,
	perform: () => Promise<Result>,
): Promise<Result> {
	const refusals: string[] = [];
	for (;;) {
		try {
			const result = await perform();
			if (refusals.length > 0) item.hint(`${refusals.join(' ')} Made with ${nameOf(item)}.`);
			return result;
		} catch (error) {
			const refusal = `${nameOf(item)} was refused: ${messageOf(error)}.`;
			const isTaken = await takeNextModel(run, item, error, connection);
			if (!isTaken) throw afterRefusals(error, refusals, item);
			refusals.push(refusal);
		}
	}
}

/** @returns whether there is another model that may be tried */
async function takeNextModel(
	run: RunState,
	item: Item,
	error: unknown,
	connection: Connection,
): Promise<boolean> {
	const next = item.others?.[0];
	if (!next || !(error instanceof GatewayError) || !mayTryOtherModel(error.failure)) return false;
	// An earlier try may have been accepted.
	if (item.found) return false;
	if (run.ledger && !(await run.ledger.changeRequest(item))) return false;
	if (run.isFailing || run.isStopped) return false;
	logOrder(run, 'model refused', item, { failure: error.failure });
	item.others?.shift();
	useModel(item, next);
	const { idempotencyKey: key } = item.idempotency ?? {};
	// By the same key, a gateway would take it for the first request.
	const idempotencyKey = key && idempotencyKeyOf(`${key} ${next.model}`, connection);
	item.idempotency &&= { ...item.idempotency, idempotencyKey };
	for (const hint of next.hints) item.hint(hint);
	logOrder(run, 'order sent', item);
	return true;
}

const nameOf = ({ model = '' }: Item) => excerpt(model, 100);

export function useModel(item: Item, { model, request, estimate }: OtherModel): void {
	Object.assign(item, { model, request, estimate });
}

/** The failure of the last model. Its own key must not serve a Retry: it was made from another request. */
function afterRefusals(error: unknown, refusals: string[], item: Item): unknown {
	if (refusals.length === 0 || !(error instanceof GatewayError)) return error;
	const advice = `This was the response to ${nameOf(item)}. ${refusals.join(' ')}`;
	return error.with({ advice, idempotencyKey: undefined });
}
