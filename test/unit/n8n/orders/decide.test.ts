import { GatewayError, type Failure } from '../../../../nodes/shared/gateway/errors/gatewayError';
import {
	decide,
	learn,
	type Decision,
	type DecisionInput,
} from '../../../../nodes/shared/n8n/orders/decide';
import type { Match } from '../../../../nodes/shared/n8n/orders/match';
import type { Known } from '../../../../nodes/shared/n8n/orders/order';

const failure: Failure = {
	...{ message: 'The connection was lost', remedies: [], reach: 'lost', status: 0 },
	...{ billed: 'unknown', retry_can_help: false },
};
const wish: DecisionInput = {
	...{ resendsLost: false, written: 'node', keyUse: 'free', ifOrderedBefore: 'skip' },
	...{ releasesKey: false, executionLimit: 'free', dailyLimit: 'free' },
};
const sent: Known = { state: 'sent', written: 'node' };
const lost: Known = { state: 'lost', failure, written: 'node' };
const answered: Known = { state: 'answered', result: {}, hints: [], written: 'node' };
const parts: Known = { state: 'new', parts: [{}], written: 'node' };

/** What is known, what it matches, what the user wants, what is decided, and why. */
type Row = [
	Known | undefined,
	Match['by'] | undefined,
	Partial<DecisionInput>,
	Decision['do'],
	string?,
];

const keyed = { idempotencyKey: 'k' };
const resends = { resendsLost: true };

describe('the decision about an order', () => {
	const rows: Row[] = [
		// Nothing is known of the order.
		[undefined, undefined, {}, 'send'],
		[parts, 'request', {}, 'send'],
		[undefined, undefined, { executionLimit: 'full' }, 'refuse', 'limit'],
		[undefined, undefined, { executionLimit: 'unknown' }, 'refuse', 'triesUnknown'],
		[undefined, undefined, { executionLimit: 'full', ...resends }, 'refuse', 'limit'],
		[undefined, undefined, { executionLimit: 'costly' }, 'refuse', 'costLimit'],
		[undefined, undefined, { dailyLimit: 'full' }, 'refuse', 'limitOfDay'],
		[undefined, undefined, { dailyLimit: 'costly', ...resends }, 'refuse', 'costLimitOfDay'],
		[undefined, undefined, { dailyLimit: 'unknown', ...resends }, 'refuse', 'dayUnknown'],
		[undefined, undefined, { dailyLimit: 'full', executionLimit: 'full' }, 'refuse', 'limit'],
		[undefined, undefined, { dailyLimit: 'full', keyUse: 'same' }, 'leaveOut', 'keyUsed'],
		[answered, 'request', { dailyLimit: 'full' }, 'reuse'],
		[lost, 'request', { dailyLimit: 'full', ...resends }, 'refuse', 'limitOfDay'],
		[{ ...lost, ...keyed }, 'request', { ...keyed, dailyLimit: 'full' }, 'sendUnderKey'],
		[undefined, undefined, { keyUse: 'same' }, 'leaveOut', 'keyUsed'],
		[undefined, undefined, { keyUse: 'same', ifOrderedBefore: 'fail' }, 'refuse', 'keyUsed'],
		[undefined, undefined, { keyUse: 'other' }, 'refuse', 'keyOfOther'],
		[undefined, undefined, { keyUse: 'unknown' }, 'refuse', 'keyUnknown'],
		[undefined, undefined, { keyUse: 'unknown', ...resends }, 'refuse', 'keyUnknown'],
		[undefined, undefined, { keyUse: 'same', executionLimit: 'full' }, 'leaveOut', 'keyUsed'],
		// It was answered.
		[answered, 'request', {}, 'reuse'],
		[answered, 'request', { ...resends, executionLimit: 'full', keyUse: 'same' }, 'reuse'],
		[answered, 'request', { written: 'changed' }, 'reuse'],
		[answered, 'item', {}, 'reuse'],
		[answered, 'key', {}, 'reuse'],
		[answered, 'key', { written: 'changed' }, 'refuse', 'keyOfOther'],
		[answered, 'place', {}, 'refuse', 'reworded'],
		[answered, 'number', resends, 'refuse', 'reworded'],
		// Its response is lost.
		[lost, 'request', {}, 'refuse', 'lost'],
		[lost, 'request', { ...keyed, executionLimit: 'full' }, 'refuse', 'lost'],
		[lost, 'request', resends, 'send'],
		[{ ...lost, ...keyed }, 'request', keyed, 'sendUnderKey'],
		[{ ...lost, ...keyed }, 'request', { idempotencyKey: 'other' }, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'request', {}, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'item', keyed, 'refuse', 'lost'],
		[lost, 'key', {}, 'refuse', 'lost'],
		[lost, 'item', resends, 'send'],
		[lost, 'place', {}, 'refuse', 'reworded'],
		[lost, 'place', resends, 'send'],
		// It was sent, and nothing else is known.
		[sent, 'request', {}, 'refuse', 'sent'],
		[sent, 'request', resends, 'send'],
		[sent, 'request', { executionLimit: 'full', ...resends }, 'refuse', 'limit'],
		[{ ...sent, ...keyed }, 'request', { executionLimit: 'full', ...keyed }, 'refuse', 'limit'],
		[{ ...sent, ...keyed }, 'request', keyed, 'sendUnderKey'],
		[sent, 'request', keyed, 'refuse', 'sent'],
		[sent, 'item', {}, 'refuse', 'reworded'],
		[sent, 'place', {}, 'refuse', 'reworded'],
		[sent, 'number', {}, 'refuse', 'reworded'],
		[sent, 'number', resends, 'send'],
		// The user only releases its Order Key.
		[undefined, undefined, { releasesKey: true }, 'leaveOut', 'keyReleased'],
		[answered, 'request', { releasesKey: true, keyUse: 'same' }, 'leaveOut', 'keyReleased'],
		[undefined, undefined, { releasesKey: true, keyUse: 'unknown' }, 'refuse', 'keyUnknown'],
	];
	it.each(
		rows.map(([known, by, wanted, what, because]) => ({
			...{ known, by, wanted, what, because },
			title: `${what}${because ? ` (${because})` : ''} when ${known ? `an order in the state ${known.state} matches by its ${by}` : 'nothing is known'}, with the wish ${JSON.stringify(wanted)}`,
		})),
	)('decides to $title', ({ known, by, wanted, what, because }) => {
		const found = known && by && { known, by };
		const decision = decide(found, { ...wish, ...wanted });
		expect(decision.do).toBe(what);
		expect('because' in decision ? decision.because : undefined).toBe(because);
	});

	it('keeps the parts that have a response when it sends the rest', () => {
		const decision = decide({ known: parts, by: 'request' }, wish);
		expect(decision).toMatchObject({ do: 'send', parts: [{}] });
	});
});

describe('what is known of an order after it was sent', () => {
	const outcome = { hints: ['cut'], parts: [] };
	const failed = (billed: Failure['billed']) => new GatewayError({ ...failure, billed });

	it('keeps the result of an order even when its outputs could not be made', () => {
		const job = { id: 'task_1' };
		const learned = learn({ ...outcome, result: { url: 'a' }, job, error: failed('yes') });
		expect(learned).toEqual({ state: 'answered', result: { url: 'a' }, job, hints: ['cut'] });
	});

	it.each(['unknown', 'yes'] as const)(
		'keeps how an order failed when it may be charged (billed: %s)',
		(billed) => {
			expect(learn({ ...outcome, error: failed(billed) })).toMatchObject({ state: 'lost' });
		},
	);

	it('keeps nothing of an order that was refused, failed in n8n, or was not sent', () => {
		expect(learn({ ...outcome, error: failed('no') })).toBeUndefined();
		expect(learn({ ...outcome, error: new Error('expression') })).toBeUndefined();
		expect(learn(outcome)).toBeUndefined();
	});

	it('keeps the parts that have a response when another part was refused', () => {
		const learned = learn({ ...outcome, parts: [{}], error: failed('no') });
		expect(learned).toEqual({ state: 'new', parts: [{}] });
	});
});
