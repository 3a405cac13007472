import { endpoints } from '../../../../nodes/shared/gateway/protocol/endpoints';
import { SimulatedTime } from '../../../harness/time';
import { failed, messages, startRun } from './startRun';

describe('checking all items', () => {
	it('returns the items that can be sent, and fails each other item with all its problems', async () => {
		const { run, check } = await startRun(
			{
				prepare(parameters) {
					const { item } = parameters;
					if (item === 1) parameters.report('Prompt', 'is empty');
					if (item === 1) parameters.report('Size', 'is too large');
					if (item === 2) throw failed('an expression of item 2');
					return item;
				},
			},
			{ items: 4 },
		);
		expect((await check()).map(({ index, request }) => [index, request])).toEqual([
			[0, 0],
			[3, 3],
		]);
		expect(messages(run)).toEqual([
			'GatewayError: Prompt is empty; Size is too large',
			'GatewayError: an expression of item 2',
		]);
		expect(run.items.map(({ outcome }) => outcome?.length)).toEqual([undefined, 1, 1, undefined]);
	});

	it('fails an item for a problem that the check of its file reports', async () => {
		const { run, check } = await startRun(
			{
				prepare(parameters) {
					parameters.checks.push(async () => parameters.report('Image', 'is no picture'));
					return 0;
				},
			},
			{},
		);
		expect(await check()).toEqual([]);
		expect(messages(run)).toEqual(['GatewayError: Image is no picture']);
	});

	it('gives the event loop turns while it checks thousands of items, so that Stop takes effect', async () => {
		const time = new SimulatedTime();
		const stop = new AbortController();
		let prepared = 0;
		const prepare = () => {
			jest.setSystemTime(Date.now() + 1);
			if (++prepared === 500) setImmediate(() => stop.abort());
			return prepared;
		};
		const { check } = await startRun({ prepare }, { items: 20_000, stop: stop.signal });
		expect(await check()).toEqual([]);
		await time.end();
		expect(prepared).toBeGreaterThanOrEqual(500);
		expect(prepared).toBeLessThan(1000);
	});

	it('looks at each item only once when thousands of items fail', async () => {
		const count = 2000;
		const prepare = () => {
			throw failed('an expression');
		};
		const { run, check } = await startRun(
			{ endpoint: endpoints.models, prepare },
			{ items: count },
		);
		let looks = 0;
		for (const item of run.items) {
			Object.defineProperty(item, 'abortController', { get: () => void looks++ });
		}
		await check();
		expect(looks).toBe(count);
	});
});
