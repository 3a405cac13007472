import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { processedItems, runWorkflow, type WorkflowRun } from '../../harness';
import {
	chain,
	createVideo,
	credentialFor,
	type NodeSettings,
	inGroups,
} from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

// n8n's store of a node keeps its newest entries. What it forgets, nobody can guard.

/** How many entries the store keeps. */
const room = 20_000;

let gateway: Gateway;

withGateway(
	{ isTimeSimulated: true, jobSeconds: Infinity, render: async () => new Uint8Array(0) },
	(world) => void ({ gateway } = world),
);

/** An item for each key, from one number up to another. */
const itemsOf = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => ({ json: { sku: `S${from + index}` } }));

const run = async (
	input: ReturnType<typeof itemsOf>,
	options: IDataObject = {},
	parameters: IDataObject = {},
	settings: NodeSettings = {},
): Promise<WorkflowRun> => {
	const keyed = { orderKey: '={{ $json.sku }}', ...options };
	const node = createVideo(
		{ prompt: '={{ $json.sku }}', options: inGroups(keyed), ...parameters },
		settings,
	);
	return await runWorkflow(chain(node), {
		...{ credentials: credentialFor(gateway), mode: 'trigger', input },
	});
};

/** Entries of later orders, as if this number of them had been recorded. */
let fillers = 0;
const fill = (count: number) =>
	processedItems.fill(Array.from({ length: count }, () => `filler ${fillers++}`));
const fillUp = () => fill(room - processedItems.size);

const continues = { onError: 'continueRegularOutput' } as const;

describe('a full store of n8n', () => {
	const limit = { maxOrdersPerDay: 10 };
	const lists: Array<[string, IDataObject, NodeSettings]> = [
		['that is only previewed', { preview: true }, {}],
		['that is refused', {}, {}],
		['whose orders a limit refuses one by one', {}, continues],
	];

	it.each(lists)(
		'forgets no Order Key and no order of the day for a list %s',
		async (_, parameters, settings) => {
			await run(itemsOf(0, 10), limit);
			fillUp();
			await run(itemsOf(1_000, 1_600), limit, parameters, settings);
			expect(processedItems.size).toBe(room);
			await run(itemsOf(100, 110), limit, {}, settings);
			const again = await run(itemsOf(0, 10), limit);
			expect(again.items('Create').map(({ json }) => json.ordered)).toEqual(
				Array.from({ length: 10 }, () => false),
			);
			expect(gateway.ledger).toHaveLength(10);
		},
	);

	it('says in a hint how many of its oldest entries it has dropped for new Order Keys', async () => {
		expect((await run(itemsOf(0, 1))).hintsOf('Create')).toEqual([]);
		fillUp();
		expect((await run(itemsOf(1, 3))).hintsOf('Create')).toEqual([
			expect.stringMatching(
				/^n8n's database .* dropped its \d+ oldest entries\. Order Keys among them could be ordered again\.$/,
			),
		]);
	});

	it('remembers an Order Key that is still in the list, although newer entries have filled it', async () => {
		await run(itemsOf(0, 1));
		fill(room / 2);
		await run(itemsOf(0, 1));
		fill(room * 0.75);
		await run(itemsOf(1, 2));
		await run(itemsOf(0, 1));
		expect(gateway.ledger).toHaveLength(2);
	});
});

describe('a list with more orders than n8n’s store can guard', () => {
	it.each<[string, IDataObject, number]>([
		['orders with an Order Key', {}, 3_300],
		['orders', { orderKey: undefined }, 6_600],
	])('is refused before anything is sent, and the error says how many: %s', async (...row) => {
		const [orders, options, most] = row;
		const refused = await run(itemsOf(0, most + 1), options, { preview: false });
		expect(refused.errorOf('Create')?.message).toMatch(
			new RegExp(`Nothing was ordered, because the list has more than ${most} ${orders}$`),
		);
		expect(gateway.requests).toEqual([]);
		expect(processedItems.size).toBe(0);
	});
});
