import type { OrderFate } from '../n8n/kills/orders/fates';
import { singleProcess } from '../n8n/kills/orders/killable';
import { moments } from '../n8n/kills/orders/moments';
import { samplePlans } from '../n8n/kills/orders/plans';
import { sweepOrders } from '../n8n/kills/orders/sweep';
import { having, lacking } from '../n8n/features';

/** A small run of `npm run measure -- kills --only orders`. */
describe('n8n killed at 20 moments of an order', () => {
	let fates: OrderFate[];

	beforeAll(async () => {
		fates = await sweepOrders(singleProcess, {
			...{ plans: samplePlans(), millisecondsApart: 100 },
			...{ retries: 'oneOfBoth', awaitsVideos: false },
			report: () => undefined,
		});
	}, 600_000);

	having('openOrders')(
		'Retry delivers each job or names its order, and nothing is charged twice',
		() => {
			expect(fates).toHaveLength(20);
			expect(fates.flatMap(({ problems }) => problems)).toEqual([]);
		},
	);

	lacking('openOrders')(
		'Retry places an order again at most once, and only if it had been sent',
		() => {
			expect(fates).toHaveLength(20);
			const unsent = new Set(moments.filter(({ isUnsent }) => isUnsent).map(({ name }) => name));
			for (const { moment, charges, problems } of fates) {
				const isSent = !unsent.has(moment);
				// A Retry cannot know about these orders.
				const expected = problems.filter((text) => /^(charged twice|no output names)/.test(text));
				expect({ moment, problems }).toEqual({ moment, problems: isSent ? expected : [] });
				expect(Math.max(...charges)).toBeLessThanOrEqual(isSent ? 2 : 1);
			}
		},
	);

	having('openOrders')(
		'Retry names an order that was under way, and places one that was not sent yet',
		() => {
			const at = (moment: string) => fates.find((fate) => fate.moment === moment);
			for (const moment of ['sent, accepted later', 'accepted, no response yet']) {
				expect(at(moment)).toMatchObject({ isNamed: true, charges: [1] });
			}
			expect(at('a node before Create running')).toMatchObject({ isNamed: false, charges: [1] });
		},
	);
});
