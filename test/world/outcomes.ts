import type { IDataObject } from 'n8n-workflow';
import { endpoints } from '../../nodes/shared/gateway/protocol/endpoints';
import type { ErrorRecord } from '../../nodes/shared/n8n/errors/errorRecord';
import { startGateway, type FaultAction, type Gateway, type GatewayOptions } from '../../gateway';
import { resumeToEnd, retryExecution, runWorkflow } from '../harness';
import { itemsWith } from '../support/workflows/itemOperations';
import { picture } from '../support/data/samples';
import { itemText, worldOperations, type Kind, type WorldOperation } from './operations';
import { Table } from './table';

/** How an operation ends: with its right result, or with this status and statement about the charge. */
export type End = 'result' | { status: number; billed: 'no' | 'unknown' };

/** What is between the nodes and the gateway, and how the operations end because of it. */
export interface Setting {
	/** The name of the program and what is special about it. */
	title: string;
	/** By default, every operation gives its right result. */
	ends?: Record<Kind, End>;
	/** Operations that end in another way, by name. */
	except?: Record<string, End>;
	/** What message and advice of a failed request say. */
	says?: RegExp;
	/** Whether a request now and then gets through, which depends on the speed of the machine. */
	letsSomePass?: true;
}

/** What became of an operation. */
export interface Seen {
	record?: ErrorRecord;
	/** Message and advice. */
	text: string;
	/** How often it was charged. */
	charges: number;
	isRight: boolean;
}

/** Each operation has a key of its own, so that the ledger shows what it was charged. */
const keyOf = (operation: WorldOperation) => `sk-world-${worldOperations.indexOf(operation)}`;
export const anyKey = keyOf(worldOperations[0]);

const routes = Object.keys(endpoints) as Array<keyof typeof endpoints>;

/** @param fault what happens to every request */
export async function startWorldGateway(
	options: GatewayOptions = {},
	fault?: FaultAction,
): Promise<Gateway> {
	const gateway = await startGateway({
		...{ keys: Object.fromEntries(worldOperations.map((operation) => [keyOf(operation), {}])) },
		...{ jobSeconds: Infinity, draw: async () => picture('red', 32, 24) },
		...options,
	});
	for (const route of fault ? routes : []) gateway.fault({ ...fault!, route, times: Infinity });
	return gateway;
}

const endOf = ({ ends, except }: Setting, { kind, name }: WorldOperation): End =>
	except?.[name] ?? ends?.[kind] ?? 'result';

/** Runs an operation; if an order fails, presses Retry, which may not order anything twice. @param url the base URL */
async function see(
	setting: Setting,
	operation: WorldOperation,
	{ gateway, url }: { gateway: Gateway; url: string },
): Promise<Seen> {
	const { workflow, shows, fields, isRight, kind } = operation;
	const key = keyOf(operation);
	// A wait whose polls do not work shall end within seconds.
	const minutes = endOf(setting, operation) === 'result' ? 20 : 0.1;
	const json: IDataObject = { text: itemText, minutes, ...(await fields?.(gateway)) };
	const started = await runWorkflow(workflow, {
		credentials: { modelGatewayApi: { apiKey: key, baseUrl: url } },
		input: itemsWith([String(json.text)], json),
	});
	const run = await resumeToEnd(started);
	const charges = () => gateway.ledger.filter((charge) => charge.key === key).length;
	const error = run.errorOf(shows);
	if (error === undefined) {
		const [item] = run.items(shows);
		return { text: '', charges: charges(), isRight: await isRight(item, run, gateway) };
	}
	const record = error.context?.data as ErrorRecord | undefined;
	const text = `${error.message} ${error.description}`;
	if (kind === 'job') await retryExecution(run);
	return { record, text, charges: charges(), isRight: false };
}

export type Outcomes = Map<WorldOperation, Promise<Seen>>;

/** Starts all operations side by side. */
export const seeAll = (setting: Setting, place: { gateway: Gateway; url: string }): Outcomes =>
	new Map(worldOperations.map((operation) => [operation, see(setting, operation, place)]));

/** What the user reads of a wait that has ended before its job. */
const waited = /did not finish .*may be charged.*Collect it by its ID .*The last poll failed: /;
/** The last poll of a short wait did not come to its end, which depends on the speed of the machine. */
const late = /no response arrived within the time limit|held the request back/;

const table = new Table(worldOperations.map(({ name }) => name));
export const printTable = (): void => table.print();

/** A test for each operation. */
export function describeSetting(setting: Setting, outcomes: () => Promise<Outcomes>): void {
	describe(setting.title, () => {
		beforeAll(async () => await Promise.allSettled((await outcomes()).values()));

		it.each(worldOperations)(
			'gives the right result, or the right error that agrees with the bill: $name',
			async (operation) => {
				const { record, charges, isRight, text } = await (await outcomes()).get(operation)!;
				const { name, kind } = operation;
				const end = endOf(setting, operation);
				const mark = { no: '', unknown: '?', yes: '!' }[record?.billed ?? 'no'];
				table.set(setting.title, name, record ? `${record.status}${mark}` : 'ok');

				const isPaid = kind === 'job' || kind === 'generation';
				const hasPassed = setting.letsSomePass && record === undefined;
				if (end === 'result' || hasPassed) {
					expect({ text, isRight }).toEqual({ text: '', isRight: true });
					expect(charges).toBe(isPaid ? 1 : 0);
					return;
				}
				expect(record).toMatchObject(end);
				if (kind === 'wait') expect(text).toMatch(waited);
				if (kind !== 'wait' || !late.test(text)) expect(text).toMatch(setting.says as RegExp);
				// No bill contradicts what the user reads.
				if (record?.billed === 'no') expect(charges).toBe(0);
				// A generation may be sent once more after the page of a proxy.
				expect(charges).toBeLessThanOrEqual(kind === 'job' ? 1 : 2);
			},
		);
	});
}

const every = (end: End): Record<Kind, End> => ({
	...{ job: end, generation: end, read: end, jobRead: end, wait: end },
});

/** A wait goes on until its time limit, so it ends without a status. */
const timedOut: End = { status: 0, billed: 'unknown' };

/** Nothing reaches the gateway. Whether a job is charged that exists already is another question. */
export const refused = (status: number): Record<Kind, End> => ({
	...every({ status, billed: 'no' }),
	...{ jobRead: { status, billed: 'unknown' }, wait: timedOut },
});

export const unsent = refused(0);

/** The proxy responds in place of the gateway, so nobody knows what the gateway did. */
export const proxied = (status: number): Record<Kind, End> => ({
	...refused(status),
	...{ job: { status, billed: 'unknown' }, generation: { status, billed: 'unknown' } },
});

/** The request is too large; what has no body comes through. */
export const withoutBodies = (status: number): Record<Kind, End> => ({
	...refused(status),
	...{ read: 'result', jobRead: 'result', wait: 'result' },
});
