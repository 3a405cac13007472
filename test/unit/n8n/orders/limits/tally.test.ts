import type { IExecuteFunctions } from 'n8n-workflow';
import { Tally, tallies } from '../../../../../nodes/shared/n8n/orders/limits/tally';
import { DatabaseOrders } from '../../../../../nodes/shared/n8n/orders/stores/database';
import {
	pending,
	ProcessedItems,
} from '../../../../../nodes/shared/n8n/orders/stores/processedItems';
import { SimulatedTime } from '../../../../harness';
import { executeContext } from '../../../../support/workflows/executeContext';

/** n8n's store of a node, as a list. */
let entries: string[];
/** Throws as n8n's database may. */
let fail: (call: number) => void;
let calls = 0;

const context = (): IExecuteFunctions => {
	const helpers = {
		checkProcessedAndRecord: async (values: string[]) => {
			const processed = values.filter((value) => entries.includes(value));
			entries.push(...new Set(values.filter((value) => !processed.includes(value))));
			fail(++calls);
			return { new: [], processed };
		},
		removeProcessed: async (values: string[]) => {
			entries = entries.filter((entry) => !values.includes(entry));
			fail(++calls);
		},
		getProcessedDataCount: async () => entries.length,
	};
	return Object.assign(executeContext(), { helpers });
};

/** Counts orders as a run does. @returns whether nobody has counted in between */
async function count(change: { orders: number; cost: number }): Promise<boolean> {
	const own = context();
	const store = new ProcessedItems(own);
	const taken = await new Tally(own, store, 'today').step(change);
	taken.begin();
	const isDone = await new DatabaseOrders(store, 'origin', false).record({
		step: taken.step,
	});
	taken.end(isDone);
	return isDone;
}

const total = async () => {
	const own = context();
	return await new Tally(own, new ProcessedItems(own), 'today').total();
};
const restart = () => {
	tallies.clear();
	pending.clear();
};

let time: SimulatedTime;
beforeEach(() => {
	time = new SimulatedTime();
	entries = [];
	calls = 0;
	fail = () => {};
	restart();
});
afterEach(async () => await time.end());

describe('the tally of a day', () => {
	it('is the sum of all steps, also after restarts', async () => {
		const steps = [
			{ orders: 1, cost: 0.07 },
			{ orders: 12, cost: 1e9 },
			{ orders: -3, cost: -0.000001 },
			{ orders: 100_000, cost: 0 },
		];
		for (const step of steps) {
			restart();
			expect(await count(step)).toBe(true);
		}
		restart();
		expect(await total()).toEqual({ orders: 100_010, cost: 1_000_000_000.069_999 });
	});

	it('has an infinite cost once an order had no price', async () => {
		await count({ orders: 1, cost: Infinity });
		restart();
		await count({ orders: 1, cost: 2 });
		restart();
		expect(await total()).toEqual({ orders: 2, cost: Infinity });
	});

	it.each(['lacks', 'has twice'])(
		'cannot be read, and says so, if the store %s a digit',
		async (how) => {
			await count({ orders: 1, cost: 1 });
			const other = [...entries];
			restart();
			for (let step = 0; step < 3; step++) await count({ orders: 1, cost: 1 });
			restart();
			const changed = entries.filter((entry) => !other.includes(entry));
			entries =
				how === 'lacks'
					? entries.filter((entry) => !changed.includes(entry))
					: [...new Set([...entries, ...other])];
			await expect(total()).rejects.toThrow(
				'The count of the day in n8n’s database cannot be read',
			);
		},
	);

	it('keeps the same number of values, however much is counted', async () => {
		await count({ orders: 1, cost: 1 });
		const { length } = entries;
		for (let step = 0; step < 20; step++) await count({ orders: 7, cost: 3.5 });
		expect(entries).toHaveLength(length);
	});

	it('takes no step from a state that another worker has changed', async () => {
		await count({ orders: 1, cost: 0 });
		const own = new Map(tallies);
		restart();
		for (let step = 0; step < 3; step++) await count({ orders: 1, cost: 0 });
		restart();
		for (const [name, state] of own) tallies.set(name, state);
		expect(await count({ orders: 1, cost: 0 })).toBe(false);
		expect(await count({ orders: 1, cost: 0 })).toBe(true);
		expect(await total()).toMatchObject({ orders: 5 });
	});

	it.each(Array.from({ length: 8 }, (_, call) => [call + 1]))(
		'counts what may be sent and nothing else when n8n is killed after call %d',
		async (killed) => {
			await count({ orders: 4, cost: 1 });
			restart();
			calls = 0;
			let isDead = false;
			const before = [...entries];
			let last = before;
			fail = (call) => {
				if (!isDead) last = [...entries];
				if (call < killed) return;
				isDead = true;
				throw new Error('killed');
			};
			const isDone = await count({ orders: 2, cost: 1 }).catch(() => false);
			entries = last;
			fail = () => {};
			restart();
			const { orders } = await total();
			expect(orders === 4 || orders === 6).toBe(true);
			if (isDone) expect(orders).toBe(6);
			expect(await count({ orders: 1, cost: 1 })).toBe(true);
			restart();
			expect(await total()).toMatchObject({ orders: orders + 1 });
		},
	);

	it.each(Array.from({ length: 6 }, (_, call) => [call + 1]))(
		'gives back what was counted for nothing when the answer to call %d is lost',
		async (lost) => {
			await count({ orders: 4, cost: 1 });
			calls = 0;
			fail = (call) => {
				if (call === lost) throw new Error('Connection terminated unexpectedly');
			};
			const isDone = await count({ orders: 2, cost: 1 }).catch(() => false);
			fail = () => {};
			await count({ orders: 1, cost: 0 });
			restart();
			expect(await total()).toEqual({ orders: isDone ? 7 : 5, cost: isDone ? 2 : 1 });
		},
	);
});
