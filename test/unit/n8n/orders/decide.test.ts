import { GatewayError, type Failure } from '../../../../nodes/shared/service/errors/gatewayError';
import {
	decide,
	type Decision,
	type DecisionInput,
} from '../../../../nodes/shared/n8n/orders/decide';
import { knowledgeOf, type Entry } from '../../../../nodes/shared/n8n/orders/entry';
import type { Match } from '../../../../nodes/shared/n8n/orders/match';

const failure: Failure = {
	...{ message: 'The connection was lost', remedies: [], reach: 'lost', status: 0 },
	...{ billed: 'unknown', retry_can_help: false },
};
const wish: DecisionInput = {
	...{ resendsLost: false, parameters: 'node', keyUse: 'free', ifOrderedBefore: 'skip' },
	...{ releasesKey: false, unmatched: [], limit: undefined },
	...{ areTriesKnown: true, isRecordable: true },
};
const order = {
	...{ id: 'A', request: 'A', count: 0, run: 0, index: 0, parameters: 'node', timesSent: 1 },
};
const sent: Entry = { ...order, state: 'sent' };
const lost: Entry = { ...order, state: 'lost', failure };
const answered: Entry = { ...order, state: 'answered', result: {}, hints: [] };
const parts: Entry = { ...order, state: 'new', parts: [{}] };

/** What is known, what it matches, what the user wants, what is decided, and why. */
type Row = [
	Entry | undefined,
	Match['by'] | undefined,
	Partial<DecisionInput>,
	Decision['do'],
	string?,
];

const keyed = { idempotencyKey: 'k' };
const resends = { resendsLost: true };
const nothing = [undefined, undefined] as const;

describe('the decision about an order', () => {
	const rows: Row[] = [
		// Nothing is known of the order.
		[...nothing, {}, 'send'],
		[parts, 'request', {}, 'send'],
		[...nothing, { limit: 'limit' }, 'refuse', 'limit'],
		[...nothing, { limit: 'costLimitOfDay', ...resends }, 'refuse', 'costLimitOfDay'],
		[...nothing, { areTriesKnown: false }, 'refuse', 'triesUnknown'],
		[...nothing, { areTriesKnown: false, ...resends }, 'refuse', 'triesUnknown'],
		[...nothing, { isRecordable: false }, 'refuse', 'notRecorded'],
		[...nothing, { isRecordable: false, ...resends }, 'refuse', 'notRecorded'],
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
		[answered, 'item', {}, 'reuse'],
		[answered, 'key', {}, 'reuse'],
		[answered, 'key', { parameters: 'changed' }, 'refuse', 'keyOfOther'],
		// Its response is lost.
		[lost, 'request', {}, 'refuse', 'lost'],
		[lost, 'request', { ...keyed, limit: 'limit' }, 'refuse', 'lost'],
		[lost, 'request', resends, 'send'],
		[lost, 'request', { ...resends, isRecordable: false }, 'refuse', 'notRecorded'],
		[lost, 'request', { ...resends, limit: 'limit' }, 'refuse', 'lost'],
		[lost, 'request', { ...resends, limit: 'limitOfDay' }, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'request', { ...keyed, limit: 'limit' }, 'sendUnderKey'],
		[{ ...lost, ...keyed }, 'request', { ...keyed, limit: 'limitOfDay' }, 'sendUnderKey'],
		[{ ...lost, ...keyed }, 'request', { idempotencyKey: 'other' }, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'request', {}, 'refuse', 'lost'],
		[{ ...lost, ...keyed }, 'item', keyed, 'refuse', 'lost'],
		[lost, 'key', {}, 'refuse', 'lost'],
		[lost, 'item', resends, 'send'],
		// It was sent, and nothing else is known.
		[sent, 'request', {}, 'refuse', 'sent'],
		[sent, 'request', resends, 'send'],
		[sent, 'request', { limit: 'limit', ...resends }, 'refuse', 'sent'],
		[{ ...sent, ...keyed }, 'request', { limit: 'limit', ...keyed }, 'refuse', 'limit'],
		[{ ...sent, ...keyed }, 'request', { limit: 'limitOfDay', ...keyed }, 'sendUnderKey'],
		[{ ...sent, ...keyed }, 'request', keyed, 'sendUnderKey'],
		[{ ...sent, isUnderWay: true }, 'request', resends, 'refuse', 'sent'],
		[sent, 'request', keyed, 'refuse', 'sent'],
		[sent, 'item', {}, 'refuse', 'reworded'],
		// The user only releases its Order Key.
		[...nothing, { releasesKey: true }, 'leaveOut', 'keyReleased'],
		[answered, 'request', { releasesKey: true, keyUse: 'same' }, 'leaveOut', 'keyReleased'],
		[...nothing, { releasesKey: true, keyUse: 'unknown' }, 'refuse', 'keyUnknown'],
	];
	it.each(
		rows.map(([entry, by, wanted, what, because]) => ({
			...{ entry, by, wanted, what, because },
			title: `${what}${because ? ` (${because})` : ''} when ${entry ? `an order in the state ${entry.state} matches by its ${by}` : 'nothing is known'}, with the wish ${JSON.stringify(wanted)}`,
		})),
	)('decides to $title', ({ entry, by, wanted, what, because }) => {
		const found = entry && by && { entry, by };
		const decision = decide(found, { ...wish, ...wanted });
		expect(decision.do).toBe(what);
		expect('because' in decision ? decision.because : undefined).toBe(because);
	});

	it('keeps the parts that have a response when it sends the rest', () => {
		const decision = decide({ entry: parts, by: 'request' }, wish);
		expect(decision).toMatchObject({ do: 'send', parts: [{}] });
	});
});

describe('what is known of an order after it was sent', () => {
	const outcome = { hints: ['cut'], parts: [] };
	const failed = (billed: Failure['billed']) => new GatewayError({ ...failure, billed });

	it('keeps the result of an order even when its outputs could not be made', () => {
		const job = { id: 'task_1' };
		const learned = knowledgeOf({ ...outcome, result: { url: 'a' }, job, error: failed('yes') });
		expect(learned).toEqual({ state: 'answered', result: { url: 'a' }, job, hints: ['cut'] });
	});

	it.each(['unknown', 'yes'] as const)(
		'keeps how an order failed when it may be charged (billed: %s)',
		(billed) => {
			expect(knowledgeOf({ ...outcome, error: failed(billed) })).toMatchObject({ state: 'lost' });
		},
	);

	it('keeps nothing of an order that was refused, failed in n8n, or was not sent', () => {
		expect(knowledgeOf({ ...outcome, error: failed('no') })).toBeUndefined();
		expect(knowledgeOf({ ...outcome, error: new Error('expression') })).toBeUndefined();
		expect(knowledgeOf(outcome)).toBeUndefined();
	});

	it('keeps the parts that have a response when another part was refused', () => {
		const learned = knowledgeOf({ ...outcome, parts: [{}], error: failed('no') });
		expect(learned).toEqual({ state: 'new', parts: [{}] });
	});
});
