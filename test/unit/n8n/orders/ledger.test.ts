import type { IExecuteFunctions } from 'n8n-workflow';
import { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import { EventLoopYielder } from '../../../../nodes/shared/n8n/client/eventLoopYielder';
import { NodeLog } from '../../../../nodes/shared/n8n/log/nodeLog';
import { Ledger } from '../../../../nodes/shared/n8n/orders/ledger';
import { Line } from '../../../../nodes/shared/n8n/orders/line';
import { processMemory } from '../../../../nodes/shared/n8n/execution/processMemory';
import { SimulatedTime } from '../../../harness';
import { Entries } from '../../../support/store/entries';
import { executeContext, type Execution } from '../../../support/workflows/executeContext';

const connection = { baseUrl: 'http://127.0.0.1:9', asyncHeaderName: 'X-Gateway-Async', key: 'sk' };
const settings = {
	billing: 'job',
	fields: [],
	isOrder: true,
	connection,
	yielder: new EventLoopYielder(),
	log: new NodeLog(executeContext()),
} as const;
const ofImages = { ...settings, billing: 'generation' } as const;
const limit = { ifOrderedBefore: 'skip', releasesKey: false, limits: [] } as const;
const ofDay = (max: number): Line['options'] => ({
	...limit,
	limits: [{ of: 'orders', period: 'day', max, field: 'Max Orders' }],
});

const wanted = (identity: string, more: Partial<Line> = {}, index = 0): Line =>
	Object.assign(new Line(index), { identity, options: limit, ...more });
type Outcome = Pick<Line, 'result' | 'error'>;
const answered: Outcome = { result: { id: 'video_1' } };
const lost: Outcome = {
	error: new GatewayError({
		message: 'no response',
		reach: 'lost',
		status: 0,
		billed: 'unknown',
		retry_can_help: false,
	}),
};
const over = { hasSucceeded: true };
const failing = { hasSucceeded: false };

afterEach(() => processMemory.clear());

const open = async (execution: Execution, ...requests: string[]) => {
	const ledger = new Ledger(executeContext({ ...execution, items: requests.length }), settings);
	const lines = requests.map((request, index) => wanted(request, {}, index));
	await ledger.open(lines);
	const close = async (outcome: Outcome, end: { hasSucceeded: boolean }) => {
		for (const line of lines) ledger.recordOutcome(Object.assign(line, outcome));
		await ledger.close(end);
	};
	return { close, lines, made: lines.map(({ decision }) => decision?.do) };
};

describe('the memory of the process', () => {
	it('the process keeps the orders of one execution, however large, until another one orders', async () => {
		const requests = ['A', 'B', 'C', 'D'];
		const { close } = await open({ token: 'large' }, ...requests);
		await close({ result: { text: 'x'.repeat(12_000_000) } }, failing);
		expect((await open({ token: 'large' }, ...requests)).made).toEqual(requests.map(() => 'reuse'));
		await open({ token: 'small' }, 'E');
		expect((await open({ token: 'large' }, 'A')).made).toEqual(['send']);
	});

	it('a refused Retry removes nothing that the process knows of the order', async () => {
		const first = await open({ id: '2' }, 'A');
		const second = await open({ id: '3' }, 'A');
		expect(second.made).toEqual(['refuse']);
		await first.close(answered, over);
		await second.close(answered, failing);
		expect((await open({ id: '4' }, 'A')).made).toEqual(['reuse']);
	});
});

it('leaves an order that is being sent to its Retry, although another one has found it in a later run', async () => {
	const resent = (request = 'A') => wanted(request, { options: { ...limit, resendsLost: true } });
	await new Ledger(executeContext({ id: '2' }), settings).open([resent()]);
	const context = executeContext({ id: '3' });
	for (const [run, request] of ['B', 'A'].entries()) {
		context.getInputData = () => [{ json: { request } }];
		context.evaluateExpression = (text) => (text.includes('resumeUrl') ? '?signature=token' : run);
		await new Ledger(context, settings).open([resent(request)]);
	}
	const third = resent();
	await new Ledger(executeContext({ id: '4' }), settings).open([third]);
	expect(third.decision).toMatchObject({ do: 'refuse', because: 'sent' });
});

describe('Send Again in a Retry of an execution whose response was lost', () => {
	const options: Line['options'] = { ...limit, resendsLost: true };
	let entries: Entries;
	let stored: object;

	/** A worker that runs the execution, or a Retry of what n8n has stored of it. */
	const worker = async (requests: string[], outcome: Outcome) => {
		processMemory.clear();
		const memory = structuredClone(stored);
		const context = Object.assign(entries.contextOf(), {
			getInputData: () => requests.map((request) => ({ json: { request } })),
			getContext: () => memory,
			getMode: () => 'retry',
		});
		const ledger = new Ledger(context, settings);
		const lines = requests.map((request, index) => wanted(request, { options }, index));
		await ledger.open(lines);
		for (const line of lines) ledger.recordOutcome(Object.assign(line, outcome));
		await ledger.close(failing);
		return { memory, decisions: lines.map(({ decision }) => decision) };
	};

	beforeEach(async () => {
		entries = new Entries();
		stored = {};
		({ memory: stored } = await worker(['A'], lost));
	});

	const again = [{ do: 'send' }];
	const sentElsewhere = [{ do: 'refuse', because: 'sent' }];

	it('sends it again although another worker has sent another order', async () => {
		await worker(['B'], answered);
		expect((await worker(['A'], answered)).decisions).toMatchObject(again);
	});

	it('sends it again in each Retry of the last one, and not in one of an earlier one', async () => {
		const first = stored;
		({ memory: stored } = await worker(['A'], lost));
		const { decisions } = await worker(['A'], lost);
		expect(decisions).toMatchObject(again);
		for (const earlier of [stored, first]) {
			stored = earlier;
			expect((await worker(['A'], answered)).decisions).toMatchObject(sentElsewhere);
		}
	});

	it.each(['has stored', 'has not stored, because it was killed'])(
		'does not send it again when another worker does so between its look-up and its record: what n8n %s',
		async (what) => {
			if (what !== 'has stored') stored = {};
			entries.before = (values) => {
				const isRecord = ['again ', 'number '].every((name) =>
					values.some((value) => value.startsWith(name)),
				);
				if (!isRecord) return;
				entries.before = () => {};
				entries.list.push(...values.filter((value) => /^(?:again|number) /.test(value)));
			};
			expect((await worker(['A'], answered)).decisions).toMatchObject(sentElsewhere);
		},
	);
});

describe('executions without n8n’s database', () => {
	it('without n8n’s database, a Retry refuses an order that an earlier try may have sent', async () => {
		expect((await open({ token: 'a' }, 'A')).made).toEqual(['send']);
		processMemory.clear();
		const retry = await open({ token: 'a', mode: 'retry' }, 'A');
		expect(retry.lines[0].decision).toEqual({ do: 'refuse', because: 'triesUnknown' });
	});

	it('without n8n’s database, a Retry sends again only the lost orders that the process knows', async () => {
		const { close } = await open({ token: 'a' }, 'A');
		await close(lost, failing);
		const ledger = new Ledger(executeContext({ token: 'a', mode: 'retry', items: 2 }), settings);
		const options = { ...limit, resendsLost: true };
		const lines = ['A', 'B'].map((request, index) => wanted(request, { options }, index));
		await ledger.open(lines);
		expect(lines.map(({ decision }) => decision?.do)).toEqual(['send', 'refuse']);
	});
});

/** n8n's store, which fails after some more calls. */
const storeOf = (state: { callsLeft: number }) => {
	const entries = new Set<string>();
	const call = () => {
		if (state.callsLeft-- <= 0) throw new Error('Connection terminated unexpectedly');
	};
	return {
		checkProcessedAndRecord: async (values: string[]) => {
			call();
			const processed = values.filter((value) => entries.has(value));
			for (const value of values) entries.add(value);
			return { new: [], processed };
		},
		removeProcessed: async (values: string[]) => {
			call();
			for (const value of values) entries.delete(value);
		},
		getProcessedDataCount: async () => entries.size,
	};
};

/** Opens a ledger for one order, with n8n's database. */
const openWith = async (state: { callsLeft: number }, options: Line['options'] = limit) => {
	const context = Object.assign(executeContext(), {
		getTimezone: () => 'UTC',
		helpers: storeOf(state),
	});
	const ledger = new Ledger(context, settings);
	const line = wanted('A', { options });
	await ledger.open([line]);
	expect(line.decision).toMatchObject({ do: 'send' });
	return { ledger, line };
};

describe('limits that count for each client', () => {
	const placed = async (orders: number) => {
		const entries = new Entries();
		const lines = Array.from({ length: orders }, (_, index) =>
			wanted(`Video ${index}`, {
				options: { ...ofDay(2_000), subject: `client ${index % 3}` } as Line['options'],
			}),
		);
		await new Ledger(entries.contextOf(), settings).open(lines);
		return new Set(lines.map(({ decision }) => JSON.stringify(decision, ['do', 'because'])));
	};

	it.each([
		[1_500, '{"do":"send"}'],
		[1_501, '{"do":"refuse","because":"countFull"}'],
	])(
		'of %i orders of all clients, those are placed that n8n’s store can keep',
		async (orders, decision) => {
			expect(await placed(orders)).toEqual(new Set([decision]));
		},
	);
});

describe('the first order after a restart, while n8n’s database fails once', () => {
	const openFor = async (entries: Entries, token: string, options: Line['options'] = limit) => {
		const ledger = new Ledger(entries.contextOf({ token }), settings);
		const line = wanted('A', { options });
		await ledger.open([line]);
		ledger.recordOutcome(Object.assign(line, answered));
		await ledger.close(over);
		return line.decision;
	};

	it.each([
		['before', { do: 'send' }, 2],
		// All that was written looks as if it had been there.
		['after', { do: 'refuse', because: 'notRecorded' }, 1],
	] as const)('is sent if it can be recorded, and the day forgets nothing: %s', async (...row) => {
		const [moment, decision, orders] = row;
		const entries = new Entries();
		await openFor(entries, 'first');
		processMemory.clear();
		entries[moment] = (values) => {
			if (!values.some((value) => value.startsWith('order '))) return;
			entries[moment] = () => {};
			throw new Error('Connection terminated unexpectedly');
		};
		expect(await openFor(entries, 'second')).toMatchObject(decision);
		const limited = await openFor(entries, 'third', ofDay(orders));
		expect(limited).toMatchObject({ do: 'refuse', because: 'limitOfDay' });
	});
});

describe('an order that is sent again after its response was lost', () => {
	let time: SimulatedTime;
	beforeEach(() => void (time = new SimulatedTime()));
	afterEach(async () => await time.end());

	it('is not sent again under a daily limit if n8n’s database fails before it is counted', async () => {
		let calls = 0;
		for (; ; calls++) {
			processMemory.clear();
			const state = { callsLeft: Infinity };
			const { ledger, line } = await openWith(state, ofDay(3));
			state.callsLeft = calls;
			const status = await ledger.countResend(line);
			if (status === undefined) break;
			expect(status).toBe('dayUnknown');
		}
		expect(calls).toBeGreaterThan(1);
	});

	it('is not sent again while n8n’s database cannot record it', async () => {
		const state = { callsLeft: Infinity };
		const { ledger, line } = await openWith(state);
		state.callsLeft = 0;
		expect(await ledger.countResend(line)).toBe('notRecorded');
	});

	it('is sent again in a workflow that was never saved', async () => {
		const ledger = new Ledger(executeContext(), settings);
		const line = wanted('A');
		await ledger.open([line]);
		expect(await ledger.countResend(line)).toBeUndefined();
	});
});

describe('a tool of an agent', () => {
	/** An execution whose agent calls the tool; a Retry of it has the same memory. */
	const agentOf = (
		id: string,
		earlier?: IExecuteFunctions,
		ofTool: typeof settings | typeof ofImages = settings,
	) => {
		const context = executeContext({ type: 'modelGatewayTool', id });
		if (earlier) context.getContext = (type) => earlier.getContext(type);
		let run = 0;
		const call = async (request: string, hasSucceeded = true) => {
			const index = run++;
			context.evaluateExpression = (text) => (text.includes('resumeUrl') ? '?signature=a' : index);
			const ledger = new Ledger(context, ofTool);
			const line = wanted(request);
			await ledger.open([line]);
			ledger.recordOutcome(Object.assign(line, answered));
			await ledger.close({ hasSucceeded });
			return line.decision?.do;
		};
		return { context, call };
	};

	it('a tool places an equal order again once the earlier one was delivered', async () => {
		const { call } = agentOf('1');
		// The file could not be fetched: the agent calls the tool again, which reuses the job.
		expect([await call('A', false), await call('A')]).toEqual(['send', 'reuse']);
		expect([await call('A'), await call('A')]).toEqual(['send', 'send']);
	});

	it.each([
		['video', settings],
		['image', ofImages],
	] as const)(
		'a tool reuses the %s orders of a failed execution after a restart, in whatever order they are called',
		async (_, ofTool) => {
			const { context, call } = agentOf('1', undefined, ofTool);
			for (const request of ['A', 'B', 'A']) await call(request);
			processMemory.clear();
			const retry = agentOf('2', context, ofTool);
			const made = [];
			for (const request of ['B', 'A', 'A', 'A']) made.push(await retry.call(request));
			expect(made).toEqual(['reuse', 'reuse', 'reuse', 'send']);
		},
	);
});
