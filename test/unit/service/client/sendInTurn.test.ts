import { nextPolls, sendInTurn } from '../../../../nodes/shared/service/client/sendInTurn';
import { GatewayError, type Reach } from '../../../../nodes/shared/service/errors/gatewayError';
import { endpoints } from '../../../../nodes/shared/service/protocol/endpoints';
import { SimulatedClock } from '../../../support/time/simulatedClock';
import { gatewayTo } from '../../../support/workflows/gatewayWorld';

const interval = 3000;
const { connection, runtime: world } = gatewayTo('https://gateway.example');

interface Poller {
	id: string;
	endpoint: 'task' | 'video';
	/** When it asks; how long its poll would take. Milliseconds. */
	at: number;
	takes: number;
	/** How far its poll comes. */
	reach: Reach;
	patience?: number;
	stopAt?: number;
}

/** Lets all pollers ask; returns when the poll of each was sent, in milliseconds from the beginning, or why it was not. */
async function pollAll(pollers: Poller[], clock = new SimulatedClock()) {
	const start = clock.now();
	return await Promise.all(
		pollers.map(async ({ endpoint, at, takes, reach, stopAt, ...rest }) => {
			const stop = new AbortController();
			if (stopAt !== undefined) void clock.sleep(stopAt).then(() => stop.abort());
			await clock.sleep(at);
			const call = { endpoint: endpoints[endpoint], purpose: 'poll', ...rest };
			const runtime = { ...world, clock, signal: stop.signal };
			let sentAt: number | undefined;
			const send = async () => {
				sentAt = clock.now() - start;
				await clock.sleep(takes);
				return new GatewayError({ message: 'failed', reach, billed: 'no' });
			};
			const { message } = await sendInTurn(call, { connection, runtime }, send).catch(
				(error: Error) => error,
			);
			return sentAt ?? message;
		}),
	);
}

const poller = (more: Partial<Poller> = {}): Poller => ({
	id: 'job_1',
	endpoint: 'task',
	at: 0,
	takes: 0,
	reach: 'answered',
	...more,
});
const heldBack = expect.stringContaining('other requests about the same job held the request back');

beforeEach(() => nextPolls.clear());

describe('the polls of one job', () => {
	it.each<[string, Array<Partial<Poller>>, unknown[]]>([
		['follow each other after 3 seconds', [{ takes: 500 }, { at: 400 }, {}], [0, 6500, 3500]],
		['are sent at once when the last one is older', [{}, { at: 3000 }], [0, 3000]],
		['keep the interval to one of the other kind', [{}, { endpoint: 'video' }], [0, 3000]],
		['do not wait for those of another job', [{ takes: 500 }, { id: 'job_2' }], [0, 0]],
		['are held back by none that was never sent', [{ reach: 'unsent' }, { at: 1 }], [0, 1]],
		['look again during a long poll', [{ takes: 10_000 }, { at: 1 }], [0, 13_000]],
		[
			'give up at their patience or at Stop, and delay no other',
			[{}, { at: 1, patience: 1000 }, { at: 1, stopAt: 2000 }, { at: 1 }],
			[0, heldBack, expect.stringContaining('stopped'), 3000],
		],
	])('%s', async (_, pollers, expected) => {
		expect(await pollAll(pollers.map(poller))).toEqual(expected);
	});

	it('wait no longer than the interval when the clock is set back', async () => {
		const clock = new SimulatedClock();
		await pollAll([poller()], clock);
		clock.move(-3_600_000);
		expect(await pollAll([poller()], clock)).toEqual([interval]);
	});

	it('need no memory once they hold back no other', async () => {
		const clock = new SimulatedClock();
		await pollAll([poller(), poller({ id: 'job_2' })], clock);
		expect(nextPolls.size).toBe(2);
		await clock.sleep(interval);
		await pollAll([poller({ id: 'job_3' })], clock);
		expect(nextPolls.size).toBe(1);
	});
});
