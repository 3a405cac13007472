import { GatewayError, type Failure } from '../../../../nodes/shared/service/errors/gatewayError';
import {
	decide,
	type Decision,
	type Circumstances,
} from '../../../../nodes/shared/n8n/orders/decide';
import { stateAfter } from '../../../../nodes/shared/n8n/orders/line';
import type { Match } from '../../../../nodes/shared/n8n/orders/match';
import type { OrderOptions } from '../../../../nodes/shared/n8n/parameters/orderOptions';
import type { Order } from '../../../../nodes/shared/n8n/orders/order';

const failure: Failure = {
	message: 'The connection was lost',
	reach: 'lost',
	status: 0,
	billed: 'unknown',
	retry_can_help: false,
};
/** The user's wishes about an order, and the circumstances that decide about it. */
type Input = Partial<
	Circumstances &
		Pick<OrderOptions, 'ifOrderedBefore' | 'releasesKey' | 'resendsLost'> & {
			parameters: string;
			idempotencyKey: string;
		}
>;
const decided = (found: Match | undefined, input: Input = {}): Decision => {
	const { parameters = 'node', idempotencyKey, ifOrderedBefore = 'skip' } = input;
	const { resendsLost = false, releasesKey = false, ...given } = input;
	const options = { ifOrderedBefore, releasesKey, resendsLost };
	return decide(
		{ wish: { parameters, idempotencyKey }, found, options },
		{ keyUse: 'free', unmatched: [], limit: undefined, isUnderWay: false, ...given },
	);
};
const order = {
	id: 'A',
	request: 'A',
	count: 0,
	run: 0,
	source: 'S',
	parameters: 'node',
	timesSent: 1,
};
const sent: Order = { ...order, state: 'sent' };
const lost: Order = { ...order, state: 'lost', failure };
const answered: Order = { ...order, state: 'answered', result: {}, hints: [] };
const parts: Order = { ...order, state: 'new', parts: [{}] };

/** The known order, its match, the user's wish, the decision, and its reason. */
type Row = [Order | undefined, Match['by'] | undefined, Input, Decision['do'], string?];

const keyed = { idempotencyKey: 'k' };
const resends = { resendsLost: true };
const nothing = [undefined, undefined] as const;

describe('the decision about an order', () => {
	const rows: Row[] = [
		// No earlier try of the order is known.
		[...nothing, {}, 'send'],
		[parts, 'request', {}, 'send'],
		[...nothing, { limit: 'limit' }, 'refuse', 'limit'],
		[...nothing, { limit: 'costLimitOfDay', ...resends }, 'refuse', 'costLimitOfDay'],
		[...nothing, { unguarded: 'triesUnknown' }, 'refuse', 'triesUnknown'],
		[...nothing, { unguarded: 'triesUnknown', ...resends }, 'refuse', 'triesUnknown'],
		[...nothing, { unguarded: 'notRecorded' }, 'refuse', 'notRecorded'],
		[...nothing, { unguarded: 'notRecorded', ...resends }, 'refuse', 'notRecorded'],
		[...nothing, { keyUse: 'same' }, 'leaveOut', 'keyUsed'],
		[...nothing, { keyUse: 'same', ifOrderedBefore: 'fail' }, 'refuse', 'keyUsed'],
		[...nothing, { keyUse: 'same', limit: 'limit' }, 'leaveOut', 'keyUsed'],
		[...nothing, { keyUse: 'other' }, 'refuse', 'keyOfOther'],
		[...nothing, { keyUse: 'unknown', ...resends }, 'refuse', 'keyUnknown'],
		// It may be one of earlier orders in other words.
		[...nothing, { unmatched: [sent] }, 'refuse', 'reworded'],
		[...nothing, { unmatched: [lost, sent] }, 'refuse', 'reworded'],
		[...nothing, { unmatched: 'unknown' }, 'refuse', 'reworded'],
		[...nothing, { unmatched: 'unknown', ...resends }, 'send'],
		[...nothing, { unmatched: [lost], ...resends }, 'send'],
		[...nothing, { unmatched: [lost], limit: 'limit', ...resends }, 'refuse', 'limit'],
		[...nothing, { unmatched: [lost, answered], ...resends }, 'refuse', 'reworded'],
		[answered, 'request', { unmatched: [lost] }, 'reuse'],
		// It was answered.
		[answered, 'request', { ...resends, limit: 'limit', keyUse: 'same' }, 'reuse'],
		[answered, 'request', { limit: 'dayUnknown' }, 'reuse'],
		[answered, 'request', { parameters: 'changed' }, 'reuse'],
		[answered, 'source', {}, 'reuse'],
		[answered, 'key', {}, 'reuse'],
		[answered, 'key', { parameters: 'changed' }, 'refuse', 'keyOfOther'],
		// Its response is lost.
		[lost, 'request', {}, 'refuse', 'lost'],
		[lost, 'request', { ...keyed, limit: 'limit' }, 'refuse', 'lost'],
		[lost, 'request', resends, 'send'],
		[lost, 'request', { ...resends, unguarded: 'notRecorded' }, 'refuse', 'notRecorded'],
		[lost, 'request', { ...resends, limit: 'limit' }, 'refuse', 'lost'],
		[lost, 'request', { ...resends, limit: 'limitOfDay' }, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'request', { ...keyed, limit: 'limit' }, 'sendUnderKey'],
		[{ ...lost, ...keyed }, 'request', { ...keyed, limit: 'limitOfDay' }, 'sendUnderKey'],
		[{ ...lost, ...keyed }, 'request', { idempotencyKey: 'other' }, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'request', {}, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'source', keyed, 'refuse', 'lost'],
		[lost, 'key', {}, 'refuse', 'lost'],
		[lost, 'source', resends, 'send'],
		[{ ...lost, timesSent: 2 }, 'request', resends, 'send'],
		[{ ...sent, timesSent: 2 }, 'request', resends, 'refuse', 'sent'],
		// It was sent, and nothing else is known.
		[sent, 'request', {}, 'refuse', 'sent'],
		[sent, 'request', resends, 'send'],
		[sent, 'request', { limit: 'limit', ...resends }, 'refuse', 'sent'],
		[{ ...sent, ...keyed }, 'request', { limit: 'limit', ...keyed }, 'refuse', 'limit'],
		[{ ...sent, ...keyed }, 'request', { limit: 'limitOfDay', ...keyed }, 'sendUnderKey'],
		[{ ...sent, ...keyed }, 'request', keyed, 'sendUnderKey'],
		[sent, 'request', { ...resends, isUnderWay: true }, 'refuse', 'sent'],
		[sent, 'source', { ...resends, ...keyed, isUnderWay: true }, 'refuse', 'sent'],
		[{ ...sent, ...keyed }, 'request', { ...keyed, isUnderWay: true }, 'sendUnderKey'],
		[sent, 'request', keyed, 'refuse', 'sent'],
		[sent, 'source', {}, 'refuse', 'reworded'],
		// The user only releases its Order Key.
		[...nothing, { releasesKey: true }, 'leaveOut', 'keyReleased'],
		[answered, 'request', { releasesKey: true, keyUse: 'same' }, 'leaveOut', 'keyReleased'],
		[...nothing, { releasesKey: true, keyUse: 'unknown' }, 'refuse', 'keyUnknown'],
	];
	it.each(
		rows.map(([order, by, input, what, because]) => ({
			order,
			by,
			input,
			what,
			because,
			title: `${what}${because ? ` (${because})` : ''} when ${order ? `an order in the state ${order.state} matches by its ${by}` : 'nothing is known'}, with ${JSON.stringify(input)}`,
		})),
	)('decides to $title', ({ order, by, input, what, because }) => {
		const found = order && by && { order, by };
		const decision = decided(found, input);
		expect(decision.do).toBe(what);
		expect('because' in decision ? decision.because : undefined).toBe(because);
	});

	it('keeps the parts that have a response when it sends the rest', () => {
		const decision = decided({ order: parts, by: 'request' });
		expect(decision).toMatchObject({ do: 'send', parts: [{}] });
	});
});

describe('what is known of an order after it was sent', () => {
	const outcome = { hints: ['cut'], parts: [] };
	const failed = (billed: Failure['billed']) => new GatewayError({ ...failure, billed });

	it('keeps the result of an order even when its outputs could not be made', () => {
		const job = { id: 'task_1' };
		const learned = stateAfter({ ...outcome, result: { url: 'a' }, job, error: failed('yes') });
		expect(learned).toEqual({ state: 'answered', result: { url: 'a' }, job, hints: ['cut'] });
	});

	it.each(['unknown', 'yes'] as const)(
		'keeps how an order failed when it may be charged (billed: %s)',
		(billed) => {
			expect(stateAfter({ ...outcome, error: failed(billed) })).toMatchObject({ state: 'lost' });
		},
	);

	it('keeps nothing of an order that was refused, failed in n8n, or was not sent', () => {
		expect(stateAfter({ ...outcome, error: failed('no') })).toBeUndefined();
		expect(stateAfter({ ...outcome, error: new Error('expression') })).toBeUndefined();
		expect(stateAfter(outcome)).toBeUndefined();
	});

	it('keeps the parts that have a response when another part was refused', () => {
		const learned = stateAfter({ ...outcome, parts: [{}], error: failed('no') });
		expect(learned).toEqual({ state: 'new', parts: [{}] });
	});
});
