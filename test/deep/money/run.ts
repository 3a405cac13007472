import type { IDataObject } from 'n8n-workflow';
import { setTimeout } from 'node:timers/promises';
import type { FaultRule, Gateway, RecordedRequest } from '../../../gateway';
import { maxEntries } from '../../../nodes/shared/n8n/orders/store';
import {
	EngineProcess,
	processedItems,
	recoverExecution,
	retryExecution,
	runWorkflow,
	type RunOptions,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../../harness';
import { startBreakingTls } from '../../support/http/breakingTls';
import { nobody } from '../../support/http/scriptedServer';
import { atStoreCall, onStoreCalls } from '../../support/store/storeCalls';
import { chain, inGroups, loopOver, modelGateway, to } from '../../support/workflows/workflows';
import { checkAll, sentIn, storyOf, type Facts, type Family, type Sent } from './checks';
import { DayCount, dayOf } from './dayCount';
import {
	isOrder,
	makesJob,
	smallStore,
	type Limits,
	type Moment,
	type Scenario,
	type Step,
} from './model';

/** Each family has its own key, by which the service knows whose order it is. Nothing else differs. */
export const keys = ['family-ada', 'family-bob', 'family-cyd'];

/** By which the service recognises orders, where a scenario has it. */
export const idempotencyHeaderName = 'Idempotency-Key';

const costOfOrder = 0.37;
const prices = JSON.stringify({
	'beta-2.7-r2v': { per_video: costOfOrder },
	'vid-3.1': { per_video: costOfOrder },
	'image-1': { per_image: costOfOrder },
});
const refused = { action: 'error', status: 400, code: 'invalid_request' } as const;

/** How an execution differs from the others. */
interface Settings extends Pick<RunOptions, 'onStart'> {
	limits: Limits;
	/** The execution to retry, and whether by the workflow as it is now. */
	earlier?: StoredExecution;
	usesSaved?: boolean;
	isPreview?: boolean;
	/** By default, the base URL. */
	url?: string;
}

/** Several people start and retry one workflow. Their n8n may be killed, and starts again. */
export class MoneyRun {
	private readonly workers = [new EngineProcess(), new EngineProcess()];
	private readonly families: Family[];
	/** The limits of the node as it is now. */
	private limits: Limits;
	private readonly days: DayCount;
	/** How many entries at most were added to n8n's store. */
	private entries = 0;
	/** The texts of items that were added to a list. */
	private readonly added: string[] = [];
	private readonly start: number;

	/** @param number tells the orders of this run from those of others */
	constructor(
		private readonly gateway: Gateway,
		private readonly media: IDataObject[],
		private readonly number: number,
		private readonly given: Scenario,
	) {
		this.limits = given.limits ?? {};
		const { operation, resends = false, hasHeader = false } = given;
		this.days = new DayCount(makesJob(operation), resends, hasHeader);
		this.start = gateway.requests.length;
		this.families = given.words.map((words, index) => ({
			key: keys[index],
			texts: words.map((word) => this.textOf(word)),
			hasBegun: false,
			failed: [],
			made: [],
			workers: new Set(),
			failedIn: new Set(),
		}));
		processedItems.clear();
		processedItems.scale = given.isStoreSmall ? maxEntries / smallStore : 1;
	}

	/**
	 * @returns the orders that reached the service
	 * @throws Error when money, a job or an Order Key was lost
	 */
	async check(): Promise<Sent[]> {
		try {
			for (const together of groupsOf(this.given.steps)) await this.takeAll(together);
			await this.finish();
			const { facts } = this;
			await this.workers[0].run(async () => await this.checkPlaces());
			checkAll(facts);
			return facts.sent;
		} catch (error) {
			throw new Error(`${String(error)}\n${storyOf(this.facts)}`);
		}
	}

	private textOf = (name: string) => `${name} of run ${this.number}.`;

	private get facts(): Facts {
		const { given, families, added, gateway, number, start, isStoreWhole } = this;
		return { given, families, added, isStoreWhole, sent: sentIn(gateway, number, start) };
	}

	/** Whether n8n's store still has all that was recorded. */
	private get isStoreWhole(): boolean {
		return !this.given.isStoreSmall || this.entries < smallStore;
	}

	/** Runs steps at the same time, until all are over or n8n is killed. */
	private async takeAll(steps: Step[]): Promise<void> {
		for (const step of steps) await this.prepare(step);
		const [{ worker }] = steps;
		const n8n = this.workers[worker];
		const onEnd: Array<() => unknown> = [];
		const underWay = new Map<StoredExecution, { family: Family; limits: Limits }>();
		await this.asGroup(async (over) => {
			const take = async (step: Step) => await this.take(step, n8n, { underWay, onEnd });
			await n8n.run(async () => await Promise.all(steps.map(take)));
			if (!n8n.isKilled) return;
			await over();
			for (const [stored, { family, limits }] of underWay) {
				const execution = recoverExecution(stored, { ended: ['Start', 'Loop'], begun: 'Paid' });
				family.failed.push({ execution, limits });
				Object.assign(family, { isKilled: true, isUnsure: true });
			}
			this.days.unsure();
			this.restart(worker);
		});
		for (const end of onEnd) await end();
	}

	/** Counts what these executions order, and compares it with the limits. */
	private async asGroup(execute: (over: () => Promise<void>) => Promise<void>): Promise<void> {
		const { gateway, days, families, given } = this;
		const from = gateway.requests.length;
		// Their requests may still arrive now.
		const killed = new Map(
			families.filter(({ isKilled }) => isKilled).map((family) => [family.key, family]),
		);
		let ended = 0;
		const count = () => void ended++;
		gateway.on('request', count);
		days.beginGroup();
		await execute(async () => {
			// Requests under way still arrive.
			while (gateway.requests.length > from + ended) await setTimeout(1);
		});
		gateway.off('request', count);
		days.endGroup(sentIn(gateway, this.number, from), ({ key, charge: { job } = {} as never }) => {
			const family = killed.get(key);
			return !family || family.made.some(({ shown }) => job && shown.includes(job));
		});
		if (this.isStoreWhole) days.checkDays();
		for (const { key, isUnguarded, isKilled, workers } of families) {
			// n8n's store does not guard images.
			const isElsewhere = isKilled === true || workers.size > 1;
			const isKept = makesJob(given.operation) ? this.isStoreWhole : false;
			if (!isUnguarded && (!isElsewhere || isKept)) days.checkExecution(key);
		}
	}

	/** n8n starts again after it was killed. What it knew is only in its log. */
	private restart(worker: number): void {
		for (const family of this.families) {
			family.isUnheard = true;
			if (!family.failedIn.has(this.workers[worker])) continue;
			family.isUnguarded = family.isUnsure = true;
			this.days.unsure(family.key);
		}
		this.workers[worker] = new EngineProcess();
	}

	/** An event before a step. */
	private async prepare({ added = 0, preview, family }: Step): Promise<void> {
		if (this.given.isStoreSmall) {
			const others = Array.from({ length: added }, (_, at) => `other ${this.entries + at}`);
			processedItems.fill(others);
			this.entries += added;
		}
		if (preview) await this.preview(preview, this.families[family]);
	}

	/** Previews what a family orders, in an execution of its own. */
	private async preview(
		{ kill, worker }: NonNullable<Step['preview']>,
		family: Family,
	): Promise<void> {
		const { gateway, limits, number } = this;
		const n8n = this.workers[worker];
		const end = kill && atStoreCall(kill, () => n8n.kill());
		const { length } = gateway.requests;
		await n8n.run(async () => await this.execute(family, { limits, isPreview: true }));
		end?.();
		if (n8n.isKilled) this.restart(worker);
		const mayBeLate = this.families.some(({ isKilled }) => isKilled);
		if (!mayBeLate && sentIn(gateway, number, length).length > 0)
			throw new Error('A preview has ordered');
	}

	/** Starts the family's first execution, or retries one of its executions. */
	private async take(
		{ family: index, of, ...step }: Step,
		n8n: EngineProcess,
		{
			underWay,
			onEnd,
		}: {
			underWay: Map<StoredExecution, { family: Family; limits: Limits }>;
			onEnd: Array<() => unknown>;
		},
	): Promise<void> {
		const { given, gateway } = this;
		if (given.limits && step.limits) this.limits = step.limits;
		const family = this.families[index];
		const failed = isOrder(given.operation)
			? family.failed.at(of % (family.failed.length || 1))
			: // Only the last execution has all chats and the like.
				family.failed.pop();
		if (family.hasBegun && !failed) return;
		family.hasBegun = true;
		family.workers.add(n8n);
		const { stop, kill, breaks, moved, keepsStart, failing, midnight } = step;
		const front = breaks && (await startBreakingTls(gateway.url, breaks));
		if (front) {
			family.isUnheard = true;
			onEnd.push(front.close);
		}
		onEnd.push(...this.arm(step, family));
		if (failing) {
			// It may fail for another family.
			for (const one of this.families) one.failedIn.add(n8n);
			const fail = () => {
				throw new Error('The database is locked');
			};
			onEnd.push(atStoreCall(failing, fail));
		}
		const usesSaved = given.limits !== undefined && step.usesSaved;
		const limits = usesSaved || !failed ? this.limits : failed.limits;
		const turn = this.begin(family, limits);
		if (stop) family.isStopped = true;
		if (turn.limits.length > 1) family.areAtOnce = true;
		// Only one worker knows of a step whose outcome is unclear.
		const isUnclear = failing !== undefined && given.isQueue;
		if (stop || breaks || isUnclear) turn.isUnsure = family.isUnsure = true;
		const earlier = failed && moved ? this.withMoved(failed.execution, moved) : failed?.execution;
		let stored: StoredExecution | undefined;
		const run = await this.execute(family, {
			earlier,
			limits,
			usesSaved,
			url: front?.url,
			onStart: (cancel, start) => {
				stored = start;
				underWay.set(start, { family, limits });
				onEnd.push(this.when(stop, family, cancel));
				onEnd.push(this.when(kill, family, () => n8n.kill()));
				onEnd.push(this.when(midnight, family, passMidnight));
			},
		});
		if (kill?.at === 'end') n8n.kill();
		if (midnight?.at === 'end') passMidnight();
		if (n8n.isKilled) return;
		if (stored) underWay.delete(stored);

		// n8n stores the error of a stopped node that continues on error, and its Retry runs nothing.
		// The same applies to an execution that was stopped before its first node.
		const hasRun = run.data.resultData.lastNodeExecuted !== undefined;
		const isStored = !keepsStart && given.onError === 'stopWorkflow' && hasRun;
		const isKept = run.status !== 'canceled' || isStored;
		addTo(family, { run, isKept, limits, earlier: failed?.execution.executionId });
		if (run.status !== 'success')
			family.failed.push({ execution: isKept || !stored ? run : stored, limits });
	}

	/** An execution of the family begins, with these limits of its node. */
	private begin({ key, texts }: Family, limits: Limits) {
		const items = texts.length + 1;
		// Each try records at most this for an order. The cost of a day has 101 values, and an execution five more.
		this.entries += 2 * 9 * items + 106;
		return this.days.begin(key, limits, items);
	}

	/** Makes requests of a family fail. @returns functions that end this */
	private arm({ faults, failsLater }: Pick<Step, 'faults' | 'failsLater'>, family: Family) {
		const { route } = this.given.operation;
		const when = isRequestOf(family);
		const rules: FaultRule[] = faults.map(({ fault, ...rule }) => ({ ...fault, ...rule, route }));
		if (failsLater) rules.push({ ...refused, route: 'models', times: Infinity });
		return rules.map((rule) => this.gateway.fault({ ...rule, when }).remove);
	}

	/** Acts when a family is at this moment for the given time. @returns a function that ends this */
	private when(moment: Moment | undefined, family: Family, act: () => void): () => void {
		const { gateway } = this;
		const isOwn = isRequestOf(family);
		let left = moment?.times;
		const count = () => void (left !== undefined && --left === 0 && act());
		const onRequest = (request: RecordedRequest) => void (isOwn(request) && count());
		const onArrival = (request: RecordedRequest) => {
			onRequest(request);
			return false;
		};
		switch (moment?.at) {
			case 'begin':
				act();
				break;
			case 'record':
				return onStoreCalls('after', count);
			case 'arrival': {
				const { route } = this.given.operation;
				return gateway.fault({ route, action: 'reset', times: Infinity, when: onArrival }).remove;
			}
			case 'request':
				gateway.on('request', onRequest);
				return () => gateway.off('request', onRequest);
		}
		return () => {};
	}

	/** At the end, every family gets what it still lacks, and each Order Key is used. */
	private async finish(): Promise<void> {
		const { given, families } = this;
		const limits: Limits = given.limits ? { perDay: 2_000, costPerDay: 1_000 } : {};
		const usesSaved = given.limits !== undefined;
		const execute = async (family: Family, settings: Partial<Settings>) => {
			family.workers.add(this.workers[0]);
			await this.asGroup(async () => {
				this.begin(family, limits);
				const run = await this.execute(family, { limits, usesSaved, ...settings });
				addTo(family, { run, isKept: true, limits, earlier: settings.earlier?.executionId });
			});
		};
		await this.workers[0].run(async () => {
			for (const family of families) {
				const earlier = family.failed.at(-1)?.execution;
				if (earlier && family.made.at(-1)?.run.status !== 'success')
					await execute(family, { earlier });
			}
			if (!given.hasKey) return;
			const [family] = families;
			for (const text of new Set(families.flatMap(({ texts }) => texts)))
				await execute({ ...family, texts: [text] }, {});
		});
	}

	/** No place of the day is lost: an execution may order when its limit is one more than what may have been ordered. */
	private async checkPlaces(): Promise<void> {
		const { days, gateway, given, number } = this;
		if (!given.limits || !this.isStoreWhole) return;
		const day = dayOf(Date.now());
		const { most, fewest } = days.countOf(day);
		const limit = most + 1;
		const limits = { perDay: limit };
		const count = Math.min(8, limit - fewest + 1);
		const texts = Array.from({ length: count }, (_, index) => this.textOf(`Last${index}`));
		const plain = { hasKey: undefined, isLoop: undefined, retryOnFail: false };
		const last: Scenario = { ...given, ...plain, onError: 'continueRegularOutput' };
		const from = gateway.requests.length;
		const run = await this.execute({ key: keys[0], texts }, { limits }, last);
		if (dayOf(Date.now()) !== day) return;
		const placed = sentIn(gateway, number, from).filter(
			({ charge, texts: [text] }) => charge && text.startsWith('Last'),
		).length;
		if (placed === 0 || placed > limit - fewest) {
			const why = JSON.stringify(run.data.resultData.runData.Paid).slice(0, 1_000);
			const known = `with the limit ${limit} after ${fewest} to ${most} of the day`;
			throw new Error(`${placed} of ${count} were ordered ${known}: ${why}`);
		}
	}

	private async execute(
		{ key, texts }: Pick<Family, 'key' | 'texts'>,
		{ earlier, limits, usesSaved, isPreview = false, url, onStart }: Settings,
		given = this.given,
	): Promise<WorkflowRun> {
		const { backup, hasHeader } = given;
		const baseUrl = url ?? (backup === 'needed' ? nobody : this.gateway.url);
		const backupUrl = backup && { backupUrl: this.gateway.backupUrl };
		const modelGatewayApi: IDataObject = {
			apiKey: key,
			baseUrl,
			...backupUrl,
			advanced: true,
			prices,
			...(hasHeader && { idempotencyHeaderName }),
		};
		const settings: RunOptions = {
			credentials: { modelGatewayApi: modelGatewayApi as Record<string, string> },
			onStart,
			inWorker: given.isQueue,
		};
		const workflow = workflowOf(given, limits, isPreview);
		if (earlier)
			return await retryExecution(earlier, { ...settings, ...(usesSaved && { workflow }) });
		const input = this.itemsOf(texts);
		return await runWorkflow(workflow, { ...settings, input, mode: 'trigger' });
	}

	/** The execution with a list that has changed since, if it begins with its list. */
	private withMoved(
		earlier: StoredExecution,
		{ by, isLonger }: NonNullable<Step['moved']>,
	): StoredExecution {
		const data = structuredClone(earlier.data);
		const first = data.executionData?.nodeExecutionStack[0];
		if (first?.node.name !== 'Start') return earlier;
		const items = first.data.main[0] ?? [];
		const added = isLonger ? [this.textOf(`New${this.added.length}`)] : [];
		this.added.push(...added);
		first.data.main = [[...this.itemsOf(added), ...items.slice(by), ...items.slice(0, by)]];
		return { ...earlier, data };
	}

	private itemsOf(texts: string[]) {
		const { media, given } = this;
		return texts.map((text) => ({ json: { text, media, reword: given.isReworded } }));
	}
}

const isRequestOf =
	({ key }: Family) =>
	({ headers }: RecordedRequest) =>
		headers.authorization?.endsWith(key) ?? false;

/** The steps that run at the same time. */
function groupsOf(steps: Step[]): Step[][] {
	const groups: Step[][] = [];
	for (const step of steps) {
		const group = step.isMeanwhile ? groups.at(-1) : undefined;
		if (group) group.push(step);
		else groups.push([step]);
	}
	return groups;
}

function addTo({ made }: Family, { run, ...more }: Omit<Family['made'][number], 'shown'>): void {
	made.push({ run, shown: JSON.stringify(run.data.resultData), ...more });
}

/** The moment is set to the next day. */
function passMidnight(): void {
	jest.setSystemTime(Date.now() + 24 * 3_600_000);
}

/** A list that is ordered at once or one by one, and a node after it. */
function workflowOf(given: Scenario, limits: Limits, isPreview: boolean): WorkflowJson {
	const models = { resource: 'model', operation: 'getAll' };
	const deliver = modelGateway(models, { name: 'Deliver', executeOnce: true });
	const paid = nodeOf(given, limits, isPreview);
	if (!given.isLoop) return chain(paid, deliver);
	const { nodes, connections } = loopOver(paid);
	const Loop = { main: [to('Deliver'), to('Paid')] };
	return { nodes: [...nodes, deliver], connections: { ...connections, Loop } };
}

function nodeOf(given: Scenario, limits: Limits, isPreview: boolean) {
	const { operation, hasKey, parallel, onError, retryOnFail, resends } = given;
	const { route, parameters } = operation;
	const cost = (orders?: number) =>
		orders === undefined ? undefined : Math.round(orders * costOfOrder * 100) / 100;
	const options = inGroups({
		parallelRequests: parallel,
		includeInputFields: true,
		...(route === 'referenceVideoCreate' && { duration: 2 }),
		...(route === 'embedding' && { batchSize: 2 }),
		...(hasKey && { orderKey: '={{ $json.text }}' }),
		...(resends && { ifAnswerLost: 'resend' }),
		maxOrdersPerDay: limits.perDay,
		maxCostPerDay: cost(limits.costPerDay),
		maxOrders: limits.perExecution,
		maxCost: cost(limits.costPerExecution),
	});
	return modelGateway(
		{ ...parameters, options, ...(isPreview && { preview: true }) },
		{ name: 'Paid', onError, retryOnFail, maxTries: 2, waitBetweenTries: 1 },
	);
}
