import { TransferLimit } from '../../../../nodes/shared/service/client/transferLimit';
import {
	imagePatience,
	maxFileBytes,
	maxImageBytes,
	maxUnannouncedBytes,
} from '../../../../nodes/shared/service/protocol/bounds';
import { SimulatedClock } from '../../../support/time/simulatedClock';

const minute = 60_000;
const twentyMinutes = 20 * minute;
const ofVideo = { maxBytes: maxFileBytes, maxUnannounced: maxUnannouncedBytes };

function limitOf(bounds: Partial<ConstructorParameters<typeof TransferLimit>[1]> = {}) {
	const clock = new SimulatedClock();
	const start = clock.now();
	const limit = new TransferLimit(clock, { patience: twentyMinutes, ...ofVideo, ...bounds });
	return { clock, limit, minutes: () => (clock.now() - start) / minute };
}

/** Receives this many bytes at this interval, in milliseconds, until the limit says why that must end. */
function receive(bytes: number, interval: number, announced: number) {
	const { clock, limit, minutes } = limitOf();
	let excess = limit.announce(announced);
	let received = 0;
	while (excess === undefined && received < announced) {
		clock.move(interval);
		excess = limit.excess((received += bytes));
	}
	return { excess, minutes: minutes() };
}

describe('the time of a transfer whose length is announced', () => {
	it.each([
		['a byte each 59 seconds', 1, 59_000],
		['30 kB each second', 30_000, 1000],
		['2 MB each minute', 2_000_000, minute],
	])('ends within two minutes after the wait when only %s arrive', (_, bytes, interval) => {
		const { excess, minutes } = receive(bytes, interval, 9_999_999_999);
		expect(excess).toMatch(
			/^took longer than 1200 seconds at less than 64 kB\/s \(\d+ bytes arrived\)$/,
		);
		expect(minutes).toBeGreaterThan(20);
		expect(minutes).toBeLessThanOrEqual(22);
	});

	it('goes on for hours while 64 kB arrive each second', () => {
		const { excess, minutes } = receive(64_000, 1000, 900_000_000);
		expect(excess).toBeUndefined();
		expect(minutes).toBeGreaterThan(3 * 60);
	});

	it.each([
		['ends a minute after the bytes become slow', 8_000_000_000, 8_000_000_001, true],
		['counts the bytes that arrive again after a restart', 5_000_000_000, 100_000_000, false],
	])('%s', (_, before, after, isOver) => {
		const { clock, limit } = limitOf();
		limit.announce(9_000_000_000);
		clock.move(30 * minute);
		expect(limit.excess(before)).toBeUndefined();
		clock.move(minute);
		expect(limit.excess(after) !== undefined).toBe(isOver);
	});
});

describe('the size of a transfer', () => {
	it.each<[string, number | undefined, number, string]>([
		['no length', undefined, maxUnannouncedBytes, 'is larger than 2 GB'],
		['the length of a compressed copy', 10_000, maxUnannouncedBytes, 'is larger than 2 GB'],
		['3 GB', 3_000_000_000, 3_000_000_000, 'is larger than 3 GB'],
	])('is limited where the storage host announces %s', (_, announced, allowed, problem) => {
		const { limit } = limitOf();
		limit.announce(announced);
		expect(limit.excess(allowed)).toBeUndefined();
		expect(limit.isTooLarge).toBe(false);
		expect(limit.excess(allowed + 1)).toBe(problem);
		expect(limit.isTooLarge).toBe(true);
	});

	it('is refused at once where more than 10 GB are announced', () => {
		const { limit } = limitOf();
		expect(limit.announce(maxFileBytes + 1)).toBe('is larger than 10 GB');
	});

	it('is limited in sum for the images of one response', () => {
		const shared = { max: 600_000_000, left: 600_000_000 };
		const image = () => {
			const bounds = { maxBytes: maxImageBytes, maxUnannounced: maxImageBytes, shared };
			return limitOf({ patience: imagePatience, ...bounds }).limit;
		};
		const [one, two, three, four] = [image(), image(), image(), image()];
		for (const bytes of [100_000_000, 240_000_000]) {
			expect(one.excess(bytes)).toBeUndefined();
			expect(two.excess(bytes)).toBeUndefined();
		}
		expect(three.announce(200_000_000)).toBe('and the others are larger than 600 MB together');
		expect(three.isTooLarge).toBe(true);
		expect(four.announce(120_000_000)).toBeUndefined();
		expect(four.excess(120_000_000)).toBeUndefined();
		expect(shared.left).toBe(0);
		// A transfer that starts again gives back what it had received.
		expect(one.excess(10)).toBeUndefined();
		expect(shared.left).toBe(239_999_990);
	});
});
