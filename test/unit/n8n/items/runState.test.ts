import { startRun } from './startRun';

describe('the state of a run', () => {
	it('shows one hint for all items whose hints have the same text', async () => {
		const { run, context } = await startRun({}, { items: 15 });
		const hints: string[] = [];
		context.addExecutionHints = (...shown) => hints.push(...shown.map(({ message }) => message));
		for (const item of run.items) if (item.index !== 3) run.hint(item, 'cut.');
		run.hint(run.items[3], 'withheld.');
		run.hint(run.items[3], 'withheld.');
		run.showHints();
		expect(hints).toEqual([
			'Items 0, 1, 2, 4, 5, 6, 7, 8, 9, 10 and 4 more: cut.',
			'Item 3: withheld.',
		]);
	});
});
