import { sweep, type Fate, type Kind } from '../n8n/kills/waits';

/** A small run of `npm run measure -- kills --only waits`. */
describe('n8n killed while workflows wait for videos', () => {
	let fates: Fate[];

	beforeAll(async () => {
		// All of them still wait when n8n resumes the last one, which happens within a minute of its start.
		const kinds: Kind[] = ['manual', 'keepsRunning', 'active', 'active', 'active', 'active'];
		fates = await sweep({
			...{ signal: 'SIGKILL', kinds, secondsApart: 4, videoSeconds: 110 },
			...{ killAfter: 0, inPass: [5], downSeconds: 10 },
			report: () => undefined,
		});
	}, 600_000);

	it('every video is saved and charged once after a kill', () => {
		expect(fates.map(({ isWhole, charges }) => ({ isWhole, charges }))).toEqual(
			fates.map(() => ({ isWhole: true, charges: [1, 1, 1] })),
		);
	});

	it('executions started by a webhook, with default settings, resume by themselves after a kill', () => {
		const active = fates.slice(2, 5);
		expect(active.map(({ outcome }) => outcome)).toEqual(active.map(() => 'byItself'));
	});

	it('Retry resumes a manual run, a wait that keeps running, and a wait killed during a pass', () => {
		const [manual, keepsRunning, , , , inPass] = fates;
		for (const { outcome } of [manual, keepsRunning, inPass]) expect(outcome).toBe('afterRetry');
	});
});
