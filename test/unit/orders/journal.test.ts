import { GatewayError } from '../../../nodes/shared/gateway/errors/gatewayError';
import { Turns } from '../../../nodes/shared/n8n/client/turns';
import type { Outcome } from '../../../nodes/shared/n8n/orders/decide';
import { Journal, type Wanted } from '../../../nodes/shared/n8n/orders/journal';
import { processMemory } from '../../../nodes/shared/n8n/orders/shelves';
import { executeContext, type Execution } from '../../support/executeContext';

const connection = { baseUrl: 'http://127.0.0.1:9', asyncHeaderName: 'X-Gateway-Async', key: 'sk' };
const settings = { cost: 'job', isOrder: true, connection, turns: new Turns() } as const;
const limit = { ifOrderedBefore: 'skip', releasesKey: false, max: Infinity } as const;

const wanted = (request: string, index = 0): Wanted => ({
	...{ index, request, options: limit, resendsLost: false },
});
const outcome = (more: Partial<Outcome>) => ({ hints: [], parts: [], ...more });
const answered = outcome({ result: { id: 'video_1' } });
const refused = outcome({
	error: new GatewayError({
		...{ message: 'no', remedies: [], reach: 'answered', status: 400 },
		...{ billed: 'no', retry_can_help: false },
	}),
});
const over = { isOver: true };
const failing = { isOver: false };

afterEach(() => processMemory.clear());

const open = async (execution: Execution, ...requests: string[]) => {
	const journal = new Journal(executeContext({ ...execution, items: requests.length }), settings);
	const decisions = await journal.open(requests.map(wanted));
	const close = async (outcomeOf: (index: number) => Outcome, end: { isOver: boolean }) => {
		requests.forEach((_, index) => journal.learn(index, outcomeOf(index)));
		await journal.close(end);
	};
	return { close, made: decisions.map((decision) => decision.do) };
};

describe('the memory of the process', () => {
	it('lets go of whole executions, of those first that were used longest ago', async () => {
		const large = outcome({ result: { text: 'x'.repeat(12_000_000) } });
		for (const token of ['first', 'second', 'third']) {
			const { close } = await open({ token }, 'A', 'B');
			await close((index) => (index === 0 ? large : answered), failing);
		}
		expect((await open({ token: 'first' }, 'A', 'B')).made).toEqual(['send', 'send']);
		expect((await open({ token: 'second' }, 'A', 'B')).made).toEqual(['reuse', 'reuse']);
		expect((await open({ token: 'third' }, 'A', 'B')).made).toEqual(['reuse', 'reuse']);
	});

	it('keeps an execution whole, however much it has ordered', async () => {
		const { close } = await open({}, 'A', 'B', 'C', 'D');
		await close(() => outcome({ result: { text: 'x'.repeat(12_000_000) } }), failing);
		expect((await open({}, 'A', 'B', 'C', 'D')).made).toEqual(Array(4).fill('reuse'));
	});

	it('keeps nothing of what was refused', async () => {
		const { close } = await open({}, 'A');
		await close(() => refused, failing);
		expect(processMemory.size).toBe(0);
	});

	it('knows an order before n8n’s database has answered, so that two Retries do not both send it', async () => {
		const both = [open({ id: '2' }, 'A'), open({ id: '3' }, 'A')];
		expect((await Promise.all(both)).map(({ made }) => made)).toEqual([['send'], ['refuse']]);
	});

	it('is not taken back by a Retry that was refused', async () => {
		const first = await open({ id: '2' }, 'A');
		const second = await open({ id: '3' }, 'A');
		expect(second.made).toEqual(['refuse']);
		await first.close(() => answered, over);
		await second.close(() => answered, failing);
		expect((await open({ id: '4' }, 'A')).made).toEqual(['reuse']);
	});
});

describe('without n8n’s database', () => {
	it('sends in a first execution, and in a Retry only what no other try can have sent', async () => {
		expect((await open({ token: 'a' }, 'A')).made).toEqual(['send']);
		processMemory.clear();
		expect((await open({ token: 'a', mode: 'retry' }, 'A')).made).toEqual(['refuse']);
	});
});

describe('a tool of an agent', () => {
	const tool = { type: 'modelGatewayTool' };

	it('orders the same again once an earlier call was answered', async () => {
		const context = executeContext(tool);
		const call = async (run: number, isOver: boolean) => {
			context.evaluateExpression = (text) => (text.includes('resumeUrl') ? '?signature=a' : run);
			const journal = new Journal(context, settings);
			const [{ do: what }] = await journal.open([wanted('A')]);
			journal.learn(0, answered);
			await journal.close({ isOver });
			return what;
		};
		// Its file could not be fetched: the agent calls it again, and takes the job that was made.
		expect([await call(0, false), await call(1, true)]).toEqual(['send', 'reuse']);
		expect([await call(2, true), await call(3, true)]).toEqual(['send', 'send']);
	});
});
