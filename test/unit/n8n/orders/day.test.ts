import { dayOf } from '../../../../nodes/shared/n8n/orders/day';

const at = (text: string) => Date.parse(text);

it.each([
	['UTC', '2026-11-24T20:00:00Z', '2026-11-24', '2026-11-25T00:00:00Z'],
	['UTC', '2026-11-24T23:59:59.999Z', '2026-11-24', '2026-11-25T00:00:00Z'],
	['UTC', '2026-11-25T00:00:00Z', '2026-11-25', '2026-11-26T00:00:00Z'],
	['America/New_York', '2026-11-24T03:00:00Z', '2026-11-23', '2026-11-24T05:00:00Z'],
	['Asia/Kathmandu', '2026-11-24T20:00:00Z', '2026-11-25', '2026-11-25T18:15:00Z'],
	['Pacific/Kiritimati', '2026-12-31T11:00:00Z', '2027-01-01', '2027-01-01T10:00:00Z'],
	// Clocks go forward on the first of these days, and back on the second.
	['Europe/Berlin', '2026-03-29T00:30:00Z', '2026-03-29', '2026-03-29T22:00:00Z'],
	['Europe/Berlin', '2026-10-24T22:00:00Z', '2026-10-25', '2026-10-25T23:00:00Z'],
])('knows that in %s, %s is on %s, which ends at %s', (timeZone, now, name, end) => {
	expect(dayOf(at(now), timeZone)).toEqual({ name, end: at(end) });
});
