import type { OrderFate } from './kills/orders/fates';
import { regularHouse } from './kills/orders/houses';
import { samplePlans } from './kills/orders/plans';
import { sweepOrders } from './kills/orders/sweep';
import { having, lacking } from './support/features';

/** The small form of `npm run test:kills -- --only orders`. */
describe('n8n, killed at 20 moments of an order', () => {
	let fates: OrderFate[];

	beforeAll(async () => {
		fates = await sweepOrders(regularHouse, {
			...{ plans: samplePlans(), millisecondsApart: 100 },
			...{ retries: 'oneOfBoth', awaitsVideos: false },
			report: () => undefined,
		});
	}, 600_000);

	having('openOrders')(
		'pays for no order twice, and Retry delivers each job or names the open order',
		() => {
			expect(fates).toHaveLength(20);
			expect(fates.flatMap(({ problems }) => problems)).toEqual([]);
		},
	);

	lacking('openOrders')('orders again, once, what a Retry cannot know of', () => {
		expect(fates).toHaveLength(20);
		const problems = fates.flatMap((fate) => fate.problems);
		const other = problems.filter((problem) => !/^(charged twice|nothing tells of)/.test(problem));
		expect(other).toEqual([]);
		for (const count of fates.flatMap(({ charges }) => charges)) expect(count).toBeLessThan(3);
	});

	having('openOrders')('names what was under way, and orders what was not', () => {
		const at = (moment: string) => fates.find((fate) => fate.moment === moment);
		for (const moment of ['sent, accepted later', 'accepted, no answer yet']) {
			expect(at(moment)).toMatchObject({ isNamed: true, charges: [1] });
		}
		expect(at('a node before Create at work')).toMatchObject({ isNamed: false, charges: [1] });
	});
});
