import { costScale, orderScale } from '../../../../nodes/shared/n8n/orders/dayLimit';

const places = Array.from({ length: 1_000 }, (_, place) => place);
const endsOf = (count: number) => places.slice(0, count).map((place) => costScale.endOf(place));

describe('the places of a limit per day', () => {
	it('each order takes one place of a limit of orders', () =>
		expect(places.slice(0, 4).map(orderScale.endOf)).toEqual([1, 2, 3, 4]));

	it('each place of a cost limit is at most 5 % of the cost before it', () => {
		const ends = endsOf(1_000);
		ends.slice(1).forEach((end, index) => {
			expect(end).toBeGreaterThan(ends[index]);
			expect(end / ends[index]).toBeLessThanOrEqual(1.050001);
		});
	});

	it('a place of a cost limit ends at each round limit', () =>
		expect(endsOf(1_000)).toEqual(
			expect.arrayContaining([0.001, 0.01, 0.1, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 25, 50, 100, 1_000]),
		));

	it('a few hundred places are enough for any cost limit', () => {
		expect(endsOf(1_000).findIndex((end) => end >= 50)).toBe(350);
		expect(endsOf(1_000).findIndex((end) => end >= 1_000_000)).toBe(675);
	});
});
