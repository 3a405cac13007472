import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { setTimeout } from 'node:timers/promises';
import { maxEntries } from '../../nodes/shared/n8n/orders/stores/processedItems';
import { picture } from '../support/data/samples';
import { chain, modelGateway, inGroups } from '../support/workflows/workflows';
import { startGateway, type Charge, type FaultAction, type Gateway } from '../../gateway';
import {
	EngineProcess,
	processedItems,
	recoverExecution,
	retryExecution,
	runWorkflow,
	SimulatedTime,
	type RunOptions,
	type StoredExecution,
	type WorkflowRun,
} from '../harness';
import { nobody } from '../support/http/scriptedServer';
import { atStoreCall, onStoreCalls } from '../support/store/storeCalls';
import {
	faults,
	harmless,
	isOrder,
	makesJob,
	operations,
	scenarios,
	scenariosOf,
	smallStore,
	type Scenario,
} from './moneyScenarios';

/** The number of runs, and the seed that makes them reproducible. Both can be set for a longer search. */
const allRuns = Number(process.env.MONEY_RUNS ?? 7_000);
const firstSeed = Number(process.env.MONEY_SEED ?? 20_261_121);
/** Which part of the runs this file has; see jest.config.js. */
const [part, parts] = [Number(process.env.PART ?? 0), Number(process.env.PARTS ?? 1)];
/** A gateway keeps every request in memory, so it is replaced after this many runs. */
const runsOfGateway = 250;

/** Runs scenarios against a gateway, and checks its charges. */
class ScenarioChecker {
	private gateway!: Gateway;
	private media: IDataObject[] = [];
	private runs = 0;

	async start(): Promise<void> {
		const png = picture('red', 32, 24);
		this.gateway = await startGateway({ jobSeconds: Infinity, draw: async () => png });
		const url = this.gateway.addMedia('a.png', png, 'image/png');
		this.media = [{ type: 'reference_image', url }];
	}

	async close(): Promise<void> {
		await this.gateway.close();
	}

	/**
	 * @returns the number of requests that each fault hit
	 * @throws Error when money or a job was lost, or an order was refused that was certainly never sent
	 */
	async check(given: Scenario): Promise<number[]> {
		if (++this.runs % runsOfGateway === 0) {
			await this.close();
			await this.start();
		}
		processedItems.clear();
		const { gateway, runs } = this;
		const texts = Array.from({ length: given.items }, (_, item) => `Run ${runs}, item ${item}.`);
		const { route } = given.operation;
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const armed = given.faults.map(({ fault, ...rule }) =>
			gateway.fault({ ...fault, ...rule, route }),
		);
		/** The orders and their charges. A request of an n8n that was killed earlier may arrive in between. */
		const orders = (): SentOrder[] => {
			const charges = gateway.ledger.slice(before.charges);
			return gateway.requests
				.slice(before.requests)
				.map(({ requestId, fault, body }) => ({
					fault,
					body: JSON.stringify(body) ?? '',
					charge: charges.find((charge) => charge.requestId === requestId),
				}))
				.filter(({ body }) => texts.some((text) => isOf(body, text)));
		};
		processedItems.scale = given.isStoreSmall ? Math.floor(maxEntries / smallStore) : 1;
		if (given.previewKill && isOrder(given.operation)) await this.killedPreview(given, texts);
		if (orders().length > 0) throw new Error('A preview has ordered');
		const made = await this.executions(given, texts);
		for (const fault of armed) fault.remove();
		checkLimit(given, texts, orders());
		// With an Order Key, a new execution does not order it again either.
		if (hasKey(given))
			made.unshift(await runWorkflow(chain(nodeOf(given)), this.settings(given, texts)));
		checkMoney(given, texts, orders());
		checkOutputs(given, made, orders());
		return armed.map(({ hits }) => hits);
	}

	private settings(given: Scenario, texts: string[]): RunOptions {
		const { gateway, media } = this;
		return {
			credentials: { modelGatewayApi: credentialOf(given, gateway) as Record<string, string> },
			input: texts.map((text) => ({ json: { text, media, reword: given.isReworded } })),
		};
	}

	/** Previews the list in an n8n that is killed meanwhile, unless the preview ends before. */
	private async killedPreview(given: Scenario, texts: string[]): Promise<void> {
		const n8n = new EngineProcess();
		const end = given.previewKill && atStoreCall(given.previewKill, () => n8n.kill());
		const preview = nodeOf(given);
		preview.parameters = { ...preview.parameters, preview: true };
		await n8n.run(async () => await runWorkflow(chain(preview), this.settings(given, texts)));
		end?.();
	}

	/** Runs the node, and presses Retry while it fails, for as often as given. The last execution comes first. */
	private async executions(given: Scenario, texts: string[]): Promise<WorkflowRun[]> {
		const { gateway } = this;
		let stop: (() => void) | undefined;
		let left = given.stopAfter;
		const count = () => {
			if (left !== undefined && --left === 0) stop?.();
		};
		const settings = {
			...this.settings(given, texts),
			onStart: (cancel: () => void) => void (stop = cancel),
		};
		gateway.on('request', count);
		const end =
			given.failing &&
			atStoreCall(given.failing, () => {
				throw new Error('The database is locked');
			});
		try {
			const killed = given.kill && (await this.killed(given, settings));
			const made = [
				killed
					? await retryExecution(killed, settings)
					: await runWorkflow(chain(nodeOf(given)), settings),
			];
			end?.();
			for (let retries = 0; retries < given.retries && made[0].status !== 'success'; retries++) {
				made.unshift(await retryExecution(made[0], settings));
			}
			// A Retry that was stopped could not name what the killed execution had ordered. Another Retry does.
			if (killed && made.some(({ status }) => status === 'canceled')) {
				made.unshift(await retryExecution(killed, settings));
			}
			return made;
		} finally {
			gateway.off('request', count);
			end?.();
		}
	}

	/** Runs the node in an n8n that is killed at some moment. @returns the execution as its database then holds it */
	private async killed(given: Scenario, settings: RunOptions): Promise<StoredExecution> {
		const { gateway } = this;
		const { at, times = 0 } = given.kill ?? {};
		const n8n = new EngineProcess();
		const before = gateway.requests.length;
		let over = 0;
		const count = () => void over++;
		gateway.on('request', count);
		let stored: StoredExecution | undefined;
		let left = times;
		const event = () => {
			if (stored && --left === 0) n8n.kill();
		};
		const end = at === 'record' ? onStoreCalls('after', event) : () => {};
		if (at === 'job' || at === 'request') gateway.on(at, event);
		await n8n.run(
			async () =>
				await runWorkflow(chain(nodeOf(given)), {
					...settings,
					onStart: (_, start) => void (stored = start),
				}),
		);
		end();
		gateway.off('job', event).off('request', event);
		// Requests under way still arrive.
		while (gateway.requests.length > before + over) await setTimeout(1);
		gateway.off('request', count);
		if (stored === undefined) throw new Error('The execution did not start');
		return recoverExecution(stored, { ended: ['Start'], begun: 'Paid' });
	}
}

interface SentOrder {
	body: string;
	fault?: FaultAction;
	charge?: Charge;
}

const hasKey = ({ hasKey: isKeyed, operation }: Scenario) => isKeyed && isOrder(operation);

const timesCharged = (text: string, orders: SentOrder[]) =>
	orders.filter(({ body, charge }) => charge && isOf(body, text)).length;

/** Whether the body of a request has the text, also with other words after it. */
const isOf = (body: string, text: string) => body.includes(`"${text}`);

/** Nothing is charged twice, except after Send Again, or if n8n was killed during a request that makes no job. */
function checkMoney(given: Scenario, texts: string[], orders: SentOrder[]): void {
	const { operation, resends, kill, failing } = given;
	// n8n could not record what it sent, and was killed.
	if (kill && failing) return;
	const isUnprotected = makesJob(operation) ? resends : kill !== undefined && !hasKey(given);
	if (isUnprotected) return;
	for (const text of texts) {
		const times = timesCharged(text, orders);
		if (times > 1) throw new Error(`"${text}" was charged ${times} times`);
	}
}

/** n8n stores the count with the execution. After a kill, nothing is known about images. */
function checkLimit(given: Scenario, texts: string[], orders: SentOrder[]): void {
	const { operation, maxOrders = Infinity, kill, failing } = given;
	const isKnown = makesJob(operation) ? !(kill && failing) : !kill;
	const isCounted = isOrder(operation) && isKnown;
	const ordered = texts.filter((text) => timesCharged(text, orders) > 0).length;
	if (isCounted && ordered > maxOrders) {
		throw new Error(`${ordered} were ordered, of a maximum of ${maxOrders}`);
	}
}

/** No known job is lost, and an order that was certainly never sent is not taken for sent. */
function checkOutputs(
	{ kill, resends, stopAfter, failing, isReworded }: Scenario,
	made: WorkflowRun[],
	orders: SentOrder[],
): void {
	const shown = made.map(({ data }) => JSON.stringify(data.resultData)).join();
	const isUnknown = shown.includes('This order was sent before');
	const isReplaced = shown.includes('Another order was sent before in place of this one');
	for (const { charge, fault } of orders) {
		// If n8n received a job ID before it was killed, the ID is in its log.
		const isLogged = kill && (isUnknown || isReworded || resends || failing);
		const hasReached = harmless.has(fault?.action) && !isLogged;
		if (charge?.job && hasReached && !shown.includes(charge.job)) {
			const ends = made.map(({ status }) => status).join(', ');
			throw new Error(`job ${charge.job} is lost; the executions, last first: ${ends}\n${shown}`);
		}
	}
	if (isUnknown && !kill && !stopAfter) throw new Error('An order was taken for sent');
	const mayBeAccepted = orders.some(
		({ fault, charge }) => charge ?? (fault !== undefined && fault.action !== 'error'),
	);
	if (isReplaced && !kill && !stopAfter && !mayBeAccepted)
		throw new Error('An order was taken for sent in other words');
	const skipped = orders.length === 0 && shown.includes('was used before');
	if (skipped && !kill && !mayBeAccepted)
		throw new Error('An order was skipped that was never sent');
}

const costOfOrder = 0.37;
const prices = JSON.stringify({
	'beta-2.7-r2v': { per_video: costOfOrder },
	'vid-3.1': { per_video: costOfOrder },
	'image-1': { per_image: costOfOrder },
});

function nodeOf(given: Scenario) {
	const { operation, resends, parallel, maxOrders, limitsCost, onError, retryOnFail } = given;
	const limit = maxOrders !== undefined && {
		...(limitsCost ? { maxCost: maxOrders * costOfOrder } : { maxOrders }),
	};
	const options = {
		parallelRequests: parallel,
		...(makesJob(operation) && { ifAnswerLost: resends ? 'resend' : 'stop' }),
		...(operation.route === 'embedding' && { batchSize: 2 }),
		...(operation.route === 'referenceVideoCreate' && { duration: 2 }),
		...(hasKey(given) && { orderKey: '={{ $json.text }}' }),
		...(isOrder(operation) && limit),
	};
	return modelGateway(
		{ ...operation.parameters, options: inGroups(options) },
		{ name: 'Paid', onError, retryOnFail, maxTries: 3, waitBetweenTries: 1 },
	);
}

function credentialOf({ hasBackup, isDown }: Scenario, { url, backupUrl, apiKey }: Gateway) {
	const credential: IDataObject = { apiKey, baseUrl: url, advanced: true, prices };
	if (hasBackup) Object.assign(credential, { backupUrl, ...(isDown && { baseUrl: nobody }) });
	return credential;
}

describe('charges and jobs of paid operations', () => {
	const checker = new ScenarioChecker();
	let time: SimulatedTime;

	beforeAll(async () => {
		time = new SimulatedTime(4);
		await checker.start();
	});
	afterAll(async () => {
		await checker.close();
		await time.end();
	});

	const promise = 'charges each item at most once and loses no known job';
	// Distributed over the parts, of which the last have none.
	for (const operation of operations.filter((_, index) => index % parts === part)) {
		it(`${promise}: ${operation.name}, at each fault, without and with Stop`, async () => {
			for (const [index, fault] of faults.entries()) {
				for (const stopAfter of [undefined, 2]) {
					const property = fc.asyncProperty(scenariosOf(operation, fault), async (given) => {
						const [hits] = await checker.check({ ...given, stopAfter });
						// Stop or a kill may come first.
						if (!stopAfter && !given.kill) expect(hits).toBeGreaterThan(0);
					});
					await fc.assert(property, { numRuns: 1, seed: firstSeed + index });
				}
			}
		});
	}

	const numRuns = Math.ceil(allRuns / parts);
	const seed = firstSeed + part;
	it(
		`${promise}: ${numRuns} runs, seed ${seed}`,
		async () => {
			const property = fc.asyncProperty(
				scenarios,
				async (given) => void (await checker.check(given)),
			);
			await fc.assert(property, { numRuns, seed });
		},
		20 * 60_000,
	);
});
