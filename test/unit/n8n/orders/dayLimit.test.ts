import { costScale, orderScale } from '../../../../nodes/shared/n8n/orders/dayLimit';

const places = Array.from({ length: 1_000 }, (_, place) => place);
const endsOf = (count: number) => places.slice(0, count).map((place) => costScale.endOf(place));

describe('the places of a limit per day', () => {
	it('are one for each order', () =>
		expect(places.slice(0, 4).map(orderScale.endOf)).toEqual([1, 2, 3, 4]));

	it('are at most 5 % of the cost before them', () => {
		const ends = endsOf(1_000);
		ends.slice(1).forEach((end, index) => {
			expect(end).toBeGreaterThan(ends[index]);
			expect(end / ends[index]).toBeLessThanOrEqual(1.050001);
		});
	});

	it('end where round limits do', () =>
		expect(endsOf(1_000)).toEqual(
			expect.arrayContaining([0.001, 0.01, 0.1, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 25, 50, 100, 1_000]),
		));

	it('are a few hundred for any limit', () => {
		expect(endsOf(1_000).findIndex((end) => end >= 50)).toBe(350);
		expect(endsOf(1_000).findIndex((end) => end >= 1_000_000)).toBe(675);
	});
});
