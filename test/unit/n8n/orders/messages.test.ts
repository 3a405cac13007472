import { usageText } from '../../../../nodes/shared/n8n/orders/messages';

it.each([
	['orders', 'execution', undefined, 1, '1 of 3 orders used in this execution, 2 left'],
	['orders', 'day', undefined, 3, '3 of 3 orders used today'],
	['cost', 'day', undefined, 0.1, '0.1 of 3 estimated cost used today, 2.9 left'],
	['cost', 'month', 'acme', 4, '“acme”: 4 of 3 estimated cost used this month'],
] as const)('says how much of the limit of %s in each %s is used by %s: %d', (...row) => {
	const [of, period, subject, used, text] = row;
	const limit = { of, period, max: 3, field: 'a field' };
	expect(usageText({ limit, subject, used })).toBe(text);
});
