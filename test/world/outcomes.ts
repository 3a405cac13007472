import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway';
import { resumeToEnd, retryExecution, runWorkflow } from '../harness';
import { picture } from '../support/data/samples';
import { itemsWith } from '../support/workflows/itemOperations';
import { itemText, worldOperations, type WorldOperation } from './operations';

/** The program between the nodes and the gateway. */
export interface Setting {
	/** The name of the program and what is special about it. */
	title: string;
	/** How an order fails there; by default, every operation gives its right result. */
	fails?: { status: number; billed: 'no' | 'unknown'; says: RegExp };
}

/** Each operation has a key of its own, so that the ledger shows what it was charged. */
const keyOf = (operation: WorldOperation) => `sk-world-${worldOperations.indexOf(operation)}`;
export const anyKey = keyOf(worldOperations[0]);

export const startWorldGateway = async (options: GatewayOptions = {}): Promise<Gateway> =>
	await startGateway({
		keys: Object.fromEntries(worldOperations.map((operation) => [keyOf(operation), {}])),
		jobSeconds: Infinity,
		draw: async () => picture('red', 32, 24),
		...options,
	});

/** A gateway, and the base URL of what is between. */
interface Place {
	gateway: Gateway;
	url: string;
}

const run = async ({ workflow, fields }: WorldOperation, key: string, { gateway, url }: Place) => {
	const json: IDataObject = { text: itemText, ...(await fields?.(gateway)) };
	const started = await runWorkflow(workflow, {
		credentials: { modelGatewayApi: { apiKey: key, baseUrl: url } },
		input: itemsWith([String(json.text)], json),
	});
	return await resumeToEnd(started);
};

/** A test for each operation, or one that shows how an order fails. */
export function describeSetting(
	{ title, fails }: Setting,
	place: () => Place,
	operations = worldOperations,
): void {
	const chargesOf = (key: string) =>
		place().gateway.ledger.filter((charge) => charge.key === key).length;

	describe(title, () => {
		if (fails) {
			it('says what is wrong, and does not charge the order, nor its Retry', async () => {
				const [order] = operations;
				const ended = await run(order, keyOf(order), place());
				const error = ended.errorOf('Node');
				const { says, ...record } = fails;
				expect(`${error?.message} ${error?.description}`).toMatch(says);
				expect(error?.context?.data).toMatchObject(record);
				await retryExecution(ended);
				expect(chargesOf(keyOf(order))).toBe(0);
			});
			return;
		}

		it.each(operations)('gives the right result, and charges it once: $name', async (operation) => {
			const { isRight, isPaid } = operation;
			const key = keyOf(operation);
			const ended = await run(operation, key, place());
			expect(ended.errorOf('Node')?.message).toBeUndefined();
			expect(await isRight(ended.items('Node')[0], ended, place().gateway)).toBe(true);
			expect(chargesOf(key)).toBe(isPaid ? 1 : 0);
		});
	});
}
