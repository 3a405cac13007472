import { sweep, type Fate, type Kind } from '../n8n/kills/waits';

/** The small form of `npm run measure -- kills --only waits`. */
describe('n8n, killed in the midst of workflows that await videos', () => {
	let fates: Fate[];

	beforeAll(async () => {
		// All of them still wait when n8n takes up the last one, which is within a minute of its start.
		const kinds: Kind[] = ['manual', 'keepsRunning', 'active', 'active', 'active', 'active'];
		fates = await sweep({
			...{ signal: 'SIGKILL', kinds, secondsApart: 4, videoSeconds: 110 },
			...{ killAfter: 0, inPass: [5], downSeconds: 10 },
			report: () => undefined,
		});
	}, 600_000);

	it('loses no video, and pays none twice', () => {
		expect(fates.map(({ isWhole, charges }) => ({ isWhole, charges }))).toEqual(
			fates.map(() => ({ isWhole: true, charges: [1, 1, 1] })),
		);
	});

	it('goes on by itself with those that are active, with all settings as they come', () => {
		const active = fates.slice(2, 5);
		expect(active.map(({ outcome }) => outcome)).toEqual(active.map(() => 'byItself'));
	});

	it('goes on with Retry after an end in the midst of a pass, or of a wait that keeps running', () => {
		const [manual, keepsRunning, , , , inPass] = fates;
		for (const { outcome } of [manual, keepsRunning, inPass]) expect(outcome).toBe('afterRetry');
	});
});
