import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { setTimeout } from 'node:timers/promises';
import { withoutUndefined } from '../../nodes/shared/gateway/json';
import { maxEntries } from '../../nodes/shared/n8n/orders/stores/processedItems';
import { picture } from '../support/data/samples';
import { chain, loopOver, modelGateway, to, inGroups } from '../support/workflows/workflows';
import {
	startGateway,
	type Charge,
	type Gateway,
	type FaultRule,
	type RecordedRequest,
	type Route,
} from '../../gateway';
import {
	EngineProcess,
	processedItems,
	recoverExecution,
	retryExecution,
	runWorkflow,
	SimulatedTime,
	type RunOptions,
	type StoredExecution,
	type WorkflowJson,
	type WorkflowRun,
} from '../harness';
import { atStoreCall, onStoreCalls } from '../support/store/storeCalls';
import { startBreakingTls, trustCertificate } from '../support/http/breakingTls';
import { DayCount, executionOf, today } from './dayCount';
import {
	families,
	isRefusal,
	jobOperations,
	smallStore,
	type Families,
	type Limits,
	type Step,
} from './familyScenarios';

/** The number of runs, and the seed that makes them reproducible. Both can be set for a longer search. */
const allRuns = Number(process.env.FAMILY_RUNS ?? 3_000);
const firstSeed = Number(process.env.FAMILY_SEED ?? 20_261_124);
/** Which part of the runs this file has; see jest.config.js. */
const [part, parts] = [Number(process.env.PART ?? 0), Number(process.env.PARTS ?? 1)];
/** A gateway keeps every request in memory, so it is replaced after this many runs. */
const runsOfGateway = 100;

/** Each family has its own key, by which the service knows whose order it is. Nothing else differs. */
const keys = ['family-ada', 'family-bob', 'family-cyd'];

const costOfVideo = 0.37;
const prices = JSON.stringify(
	Object.fromEntries(
		['alpha-1.1-r2v', 'beta-2.7-r2v', 'vid-3.1'].map((model) => [
			model,
			{ per_video: costOfVideo },
		]),
	),
);

/** An execution and all its Retries. */
interface Family {
	key: string;
	/** What each item orders. */
	texts: string[];
	hasBegun: boolean;
	/** The executions that n8n lets the user retry, as n8n stores them. */
	failed: Failed[];
	made: Made[];
	/** Whether a response of the service may never have reached n8n. */
	isUnheard?: boolean;
	/** The limits in the items of its list. */
	limits?: Limits;
	/** The processes in which n8n's store failed during an execution. */
	failedIn: Set<EngineProcess>;
	/** Whether what n8n could not record was lost with a killed process. */
	isUnguarded?: boolean;
	/** Whether an execution was killed. */
	isKilled?: boolean;
	/** Whether orders may have been recorded that were never sent. */
	isUnsure?: boolean;
}

interface Failed {
	execution: StoredExecution;
	/** Those of its node. */
	limits: Limits;
}

interface Made {
	run: WorkflowRun;
	/** All outputs and errors. */
	shown: string;
	/** Whether n8n stores them. */
	isKept: boolean;
	/** The execution that was retried. */
	earlier?: string;
	limits: Limits;
	/** Whether its Order Keys are known. */
	isChecked?: boolean;
}

/** Runs one workflow that several people start and retry in one n8n process, which may be killed and restarted. */
class FamilyChecker {
	private gateway!: Gateway;
	private media: IDataObject[] = [];
	private runs = 0;
	private others = 0;
	/** The texts of items that were added to a list during this run. */
	private added: string[] = [];
	private n8n = new EngineProcess();
	/** The limits of the node as it is now. */
	private limits: Limits = unlimited;
	private days = new DayCount();
	/** Used Order Keys: the groups of executions in which each was last ordered with, and last found used. */
	private readonly usedKeys = new Map<string, { ordered: number; found?: number }>();

	async start(): Promise<void> {
		this.gateway = await startGateway({
			jobSeconds: Infinity,
			keys: Object.fromEntries(keys.map((key) => [key, {}])),
		});
		const url = this.gateway.addMedia('a.png', picture('red', 32, 24), 'image/png');
		this.media = [{ type: 'reference_image', url }];
	}

	async close(): Promise<void> {
		await this.gateway.close();
	}

	/** @throws Error when a family got a job of another one, was charged twice, or lost a job */
	async check(given: Families): Promise<void> {
		if (++this.runs % runsOfGateway === 0) {
			await this.close();
			await this.start();
		}
		this.added = [];
		processedItems.clear();
		processedItems.scale = given.isStoreSmall ? maxEntries / smallStore : 1;
		this.n8n = new EngineProcess();
		this.limits = given.limits ?? unlimited;
		this.days = new DayCount();
		this.usedKeys.clear();
		const { gateway, runs } = this;
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const all = given.words.map((words, index): Family => {
			const texts = words.map((word) => `${word} of run ${runs}.`);
			const none = { hasBegun: false, failed: [], made: [], failedIn: new Set<EngineProcess>() };
			return { key: keys[index], texts, ...none };
		});
		// A request of an n8n that was killed in an earlier run may arrive late.
		const isOwn = (charge: Charge) => this.promptOf(charge).includes(` run ${runs}.`);
		const chargesOfRun = () => gateway.ledger.slice(before.charges).filter(isOwn);
		try {
			for (const together of groupsOf(given.steps)) await this.takeAll(together, all, given);
			await this.n8n.run(async () => await this.finish(all, given));
			const charges = chargesOfRun();
			const requests = gateway.requests.slice(before.requests);
			await this.n8n.run(async () => await this.checkPlaces(given));
			this.checkKeys(all, charges, requests, given);
			for (const family of all) {
				checkOwners(family, charges);
				this.checkItems(family, charges);
				this.checkMoney(family, charges, given);
				const isSure = isCertain(given) && !family.isUnguarded;
				if (family.hasBegun && isSure && this.days.fits(0, given.isStoreSmall))
					this.checkOrders(family, charges, given);
				// After Stop, only n8n's log and highlighted data name the job of an added item that a later list lacks.
				const listed = charges.filter((charge) => !this.isOfAdded(charge));
				if (!family.isUnheard) checkJobs(family, listed, requests);
			}
		} catch (error) {
			throw new Error(`${String(error)}\n${storyOf(all, chargesOfRun()).join('\n')}`);
		}
	}

	/** Runs steps at the same time, until all are over or n8n is killed. */
	private async takeAll(steps: Step[], all: Family[], given: Families): Promise<void> {
		for (const step of steps) await this.prepare(step, all, given);
		const { n8n } = this;
		const onEnd: Array<() => unknown> = [];
		const underWay = new Map<StoredExecution, { family: Family; limits: Limits }>();
		await this.asGroup(all, given, async (over) => {
			const take = async (step: Step) => await this.take(step, all, given, { underWay, onEnd });
			await n8n.run(async () => await Promise.all(steps.map(take)));
			if (n8n.isKilled) {
				await over();
				for (const [stored, { family, limits }] of underWay) {
					const ended = ['Start', 'Loop'];
					const execution = recoverExecution(stored, { ended, begun: 'Paid' });
					family.failed.push({ execution, limits });
					Object.assign(family, { isKilled: true, isUnsure: true });
				}
				this.days.unsure();
				this.restart(all);
			}
		});
		for (const end of onEnd) await end();
	}

	/** Counts what these executions order, and compares it with the limits. */
	private async asGroup(
		all: Family[],
		given: Families,
		execute: (over: () => Promise<void>) => Promise<void>,
	): Promise<void> {
		const { gateway, days } = this;
		const before = gateway.requests.length;
		const charged = gateway.ledger.length;
		// Their requests may still arrive now.
		const killed = all.filter(({ isKilled }) => isKilled);
		let ended = 0;
		const count = () => void ended++;
		gateway.on('request', count);
		days.beginGroup();
		await execute(async () => {
			// Requests under way still arrive.
			while (gateway.requests.length > before + ended) await setTimeout(1);
		});
		gateway.off('request', count);
		const requests = gateway.requests.slice(before).filter(this.ordersOfRun(given));
		const charges = gateway.ledger.slice(charged);
		days.endGroup(requests, charges, {
			isStoreSmall: given.isStoreSmall,
			isCertain: ({ key, job = '' }) => {
				const family = killed.find((one) => one.key === key);
				return !family || family.made.some(({ shown }) => shown.includes(job));
			},
		});
		for (const family of all) this.checkExecution(family, given);
		if (given.hasKey && !given.resends) this.checkNewest(all, charges, given);
	}

	/** An Order Key that is among the newest entries of n8n's store is not ordered with again. */
	private checkNewest(all: Family[], charges: Charge[], { isStoreSmall }: Families): void {
		const { days, usedKeys: known } = this;
		const prompts = charges.map((charge) => this.promptOf(charge));
		for (const text of new Set(all.flatMap(({ texts }) => texts))) {
			const key = known.get(text);
			if (prompts.some((prompt) => prompt.startsWith(text))) {
				const isKept = key && days.fits(key.ordered, isStoreSmall);
				// One that was found used is renewed when the store is half full.
				const isRenewed = key?.found && days.fits(key.found, isStoreSmall, smallStore / 2);
				if (isKept || isRenewed) throw new Error(`"${text}" was ordered again with its Order Key`);
				known.set(text, { ordered: days.now });
			} else if (key && all.some(({ made }) => isFoundUsed(made.at(-1), text))) {
				known.set(text, { ...key, found: days.now });
			}
		}
		for (const { made } of all) if (made.length > 0) made[made.length - 1].isChecked = true;
	}

	/** n8n starts again after it was killed. What it knew is only in its log. */
	private restart(all: Family[]): void {
		for (const family of all) {
			family.isUnheard = true;
			if (!family.failedIn.has(this.n8n)) continue;
			family.isUnguarded = family.isUnsure = true;
			this.days.unsure(family.key);
		}
		this.n8n = new EngineProcess();
	}

	/** What happens before a step. */
	private async prepare(
		{ midnight, added = 0, preview, family }: Step,
		all: Family[],
		given: Families,
	): Promise<void> {
		if (midnight === 'before') passMidnight();
		if (given.isStoreSmall) {
			processedItems.fill(Array.from({ length: added }, () => `other ${++this.others}`));
			this.days.addEntries(added);
		}
		if (preview) await this.preview(preview, all[family], all, given);
	}

	/** Previews what a family orders, in an execution of its own. */
	private async preview(
		{ kill, isOfWorker }: NonNullable<Step['preview']>,
		family: Family,
		all: Family[],
		given: Families,
	): Promise<void> {
		const n8n = isOfWorker ? new EngineProcess() : this.n8n;
		const end = kill && atStoreCall(kill, () => n8n.kill());
		const { length } = this.gateway.requests;
		await n8n.run(
			async () => await this.execute(family, given, { limits: this.limits, isPreview: true }),
		);
		end?.();
		if (n8n === this.n8n && n8n.isKilled) this.restart(all);
		const mayBeLate = all.some(({ isKilled }) => isKilled);
		if (!mayBeLate && this.gateway.requests.slice(length).some(this.ordersOfRun(given)))
			throw new Error('A preview has ordered');
	}

	/** Starts the family's first execution, or retries one of its executions. */
	private async take(
		{ family: index, of, ...step }: Step,
		all: Family[],
		given: Families,
		{
			underWay,
			onEnd,
		}: {
			underWay: Map<StoredExecution, { family: Family; limits: Limits }>;
			onEnd: Array<() => unknown>;
		},
	): Promise<void> {
		if (given.limits && step.limits) this.limits = step.limits;
		const family = all[index];
		const failed = family.failed.at(of % (family.failed.length || 1));
		if (family.hasBegun && !failed) return;
		family.hasBegun = true;
		const { gateway, n8n } = this;
		const { stop, kill, breaks, moved, keepsStart, failing, midnight } = step;
		const front = breaks && (await startBreakingTls(gateway.url, breaks));
		if (front) {
			family.isUnheard = true;
			onEnd.push(front.close);
		}
		onEnd.push(...this.arm(step, family, operationOf(given).route));
		if (failing) {
			// It may fail for another family.
			for (const one of all) one.failedIn.add(n8n);
			onEnd.push(
				atStoreCall(failing, () => {
					throw new Error('The database is locked');
				}),
			);
		}
		const usesSaved = given.limits !== undefined && step.usesSaved;
		const limits = usesSaved || !failed ? this.limits : failed.limits;
		const turn = this.begin(family, limits);
		if (stop || breaks) turn.isUnsure = family.isUnsure = true;
		const earlier = failed && moved ? this.withMoved(failed.execution, moved) : failed?.execution;
		let stored: StoredExecution | undefined;
		const run = await this.execute(family, given, {
			...{ earlier, limits, usesSaved },
			url: front?.url,
			onStart: (cancel, start) => {
				stored = start;
				underWay.set(start, { family, limits });
				if (stop) onEnd.push(this.when(stop, family, given, cancel));
				if (kill) onEnd.push(this.when(kill, family, given, () => n8n.kill()));
				if (midnight && midnight !== 'before')
					onEnd.push(this.when(midnight, family, given, passMidnight));
			},
		});
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
	private begin(family: Family, limits: Limits) {
		family.limits ??= this.limits;
		return this.days.begin(family.key, effective(limits, family.limits), family.texts.length + 1);
	}

	/** Makes requests of a family fail. @returns functions that end this */
	private arm(
		{ faults, failsLater }: Pick<Step, 'faults' | 'failsLater'>,
		family: Family,
		route: Route,
	): Array<() => void> {
		const when = isRequestOf(family);
		const rules: FaultRule[] = faults.map(({ fault, ...rule }) => ({ ...fault, ...rule, route }));
		if (failsLater) rules.push({ ...refused, route: 'models', times: Infinity });
		return rules.map((rule) => this.gateway.fault({ ...rule, when }).remove);
	}

	/** Acts when a family is at this moment for the given time. @returns a function that ends this */
	private when(
		{ at, times = 1 }: { at: Moment; times?: number },
		family: Family,
		given: Families,
		act: () => void,
	): () => void {
		const { gateway } = this;
		const isOwn = isRequestOf(family);
		let left = times;
		const count = () => void (--left === 0 && act());
		const onRequest = (request: RecordedRequest) => void (isOwn(request) && count());
		const onArrival = (request: RecordedRequest) => {
			onRequest(request);
			return false;
		};
		switch (at) {
			case 'begin':
				act();
				return () => {};
			case 'record':
				return onStoreCalls('after', count);
			case 'arrival': {
				const { route } = operationOf(given);
				return gateway.fault({ route, action: 'reset', times: Infinity, when: onArrival }).remove;
			}
			case 'request':
				gateway.on('request', onRequest);
				return () => gateway.off('request', onRequest);
		}
	}

	/** At the end, every family gets what it still lacks. */
	private async finish(all: Family[], given: Families): Promise<void> {
		const limits = given.limits ? generous : unlimited;
		const usesSaved = given.limits !== undefined;
		for (const family of all) {
			const earlier = family.failed.at(-1)?.execution;
			if (!earlier || family.made.at(-1)?.run.status === 'success') continue;
			await this.asGroup(all, given, async () => {
				this.begin(family, limits);
				const run = await this.execute(family, given, { earlier, limits, usesSaved });
				addTo(family, { run, isKept: true, limits, earlier: earlier.executionId });
			});
		}
		if (!given.hasKey) return;
		const [family] = all;
		for (const text of new Set(all.flatMap(({ texts }) => texts))) {
			await this.asGroup(all, given, async () => {
				this.begin(family, limits);
				const run = await this.execute({ ...family, texts: [text] }, given, { limits });
				addTo(family, { run, isKept: true, limits });
			});
		}
	}

	/** No place of the day is lost: an execution may order when its limit is one more than what may have been ordered. */
	private async checkPlaces(given: Families): Promise<void> {
		const { days, gateway, runs } = this;
		if (!given.limits || !days.fits(0, given.isStoreSmall)) return;
		const day = today();
		const { most, fewest } = days.countOf(day);
		const limit = most + 1;
		const limits = {
			...unlimited,
			...(given.parallel === 1 ? { costPerDay: limit } : { perDay: limit }),
		};
		const count = Math.min(8, limit - fewest + 1);
		const texts = Array.from({ length: count }, (_, index) => `Last ${index} of run ${runs}.`);
		const plain = { hasKey: undefined, isLoop: undefined, retryOnFail: false };
		const last: Families = { ...given, ...plain, onError: 'continueRegularOutput' };
		const { length } = gateway.ledger;
		const run = await this.execute({ key: keys[0], texts }, last, { limits });
		if (today() !== day) return;
		// A request of an n8n that was killed may arrive late.
		const isOwn = (charge: Charge) => texts.some((text) => this.promptOf(charge).includes(text));
		const placed = gateway.ledger.slice(length).filter(isOwn).length;
		if (placed === 0 || placed > limit - fewest) {
			const why = JSON.stringify(run.data.resultData.runData.Paid).slice(0, 1_000);
			const known = `with the limit ${limit} after ${fewest} to ${most} of the day`;
			throw new Error(`${placed} of ${count} were ordered ${known}: ${why}`);
		}
	}

	private async execute(
		{ key, texts, limits: ofItems }: Pick<Family, 'key' | 'texts' | 'limits'>,
		given: Families,
		{
			earlier,
			limits,
			usesSaved,
			isPreview = false,
			url = this.gateway.url,
			onStart,
		}: {
			earlier?: StoredExecution;
			limits: Limits;
			/** Whether a Retry uses the workflow as it is now. */
			usesSaved?: boolean;
			isPreview?: boolean;
			url?: string;
		} & Pick<RunOptions, 'onStart'>,
	): Promise<WorkflowRun> {
		const settings: RunOptions = {
			credentials: { modelGatewayApi: { apiKey: key, baseUrl: url, advanced: true, prices } },
			onStart,
		};
		const workflow = workflowOf(given, { limits, isPreview });
		if (earlier)
			return await retryExecution(earlier, { ...settings, ...(usesSaved && { workflow }) });
		const input = this.itemsOf(texts, ofItems ?? limits);
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
		const added = isLonger ? [`New ${this.added.length} of run ${this.runs}.`] : [];
		this.added.push(...added);
		const { limits } = (items[0]?.json ?? {}) as { limits?: Limits };
		first.data.main = [[...this.itemsOf(added, limits), ...items.slice(by), ...items.slice(0, by)]];
		return { ...earlier, data };
	}

	private itemsOf(texts: string[], limits?: Limits) {
		return texts.map((text) => ({ json: { text, media: this.media, limits } }));
	}

	/** No item is charged twice. With an Order Key, no two executions order the same. */
	private checkMoney(
		{ key, texts, isUnguarded, isKilled }: Family,
		charges: Charge[],
		{ hasKey, resends, isStoreSmall }: Families,
	): void {
		// What n8n's store has dropped is unknown after a kill, and in other executions.
		const isKept = this.days.fits(hasKey ? 0 : this.days.firstOf(key), isStoreSmall);
		if (resends || isUnguarded || ((isKilled || hasKey) && !isKept)) return;
		const own = hasKey ? charges : charges.filter((charge) => charge.key === key);
		for (const text of [...texts, ...this.added]) {
			const items = hasKey ? 1 : Math.max(1, texts.filter((other) => other === text).length);
			const charged = this.timesCharged(text, own);
			if (charged > items) throw new Error(`${key}: "${text}" was charged ${charged} times`);
		}
	}

	/** At the end, everything is ordered. */
	private checkOrders({ key, texts }: Family, charges: Charge[], { hasKey }: Families): void {
		const own = hasKey ? charges : charges.filter((charge) => charge.key === key);
		for (const text of texts) {
			const items = hasKey ? 1 : texts.filter((other) => other === text).length;
			const charged = this.timesCharged(text, own);
			if (charged < items) throw new Error(`${key}: "${text}" was ordered ${charged} times`);
		}
	}

	/** An Order Key is free at the end, unless an order with it may have been sent. */
	private checkKeys(
		all: Family[],
		charges: Charge[],
		requests: RecordedRequest[],
		given: Families,
	): void {
		if (!given.hasKey || !this.days.fits(0, given.isStoreSmall)) return;
		const unsure = new Set(all.flatMap(({ isUnsure, texts }) => (isUnsure ? texts : [])));
		for (const text of all.flatMap(({ texts }) => texts)) {
			if (unsure.has(text) || this.timesCharged(text, charges) > 0) continue;
			const isMaybe = requests.some(
				({ body, fault }) =>
					JSON.stringify(body ?? '').includes(text) && !(fault && isRefusal({ fault })),
			);
			if (!isMaybe) throw new Error(`The Order Key "${text}" is lost`);
		}
	}

	/** A family orders no more than one execution may, with all its Retries. */
	private checkExecution(family: Family, { isStoreSmall }: Families): void {
		const { key, isUnguarded, isKilled } = family;
		const { days } = this;
		const turn = days.turnOf(key);
		const isKept = days.fits(days.firstOf(key), isStoreSmall);
		if (!turn?.charges.some(({ isCertain }) => isCertain) || isUnguarded || (isKilled && !isKept))
			return;
		const limit = Math.max(...turn.limits.map(executionOf));
		const all = days.ordersOf(key);
		if (all > limit) throw new Error(`${key}: ${all} were ordered by one execution, of ${limit}`);
	}

	/** Selects the requests for orders of this run: one of an n8n that was killed in an earlier run may arrive late. */
	private ordersOfRun(given: Families) {
		const { route } = operationOf(given);
		return (request: RecordedRequest): boolean =>
			request.route === route &&
			(JSON.stringify(request.body) ?? '').includes(` run ${this.runs}.`);
	}

	private isOfAdded(charge: Charge): boolean {
		return this.added.some((text) => this.promptOf(charge).startsWith(text));
	}

	private timesCharged(text: string, charges: Charge[]): number {
		return charges.filter((charge) => this.promptOf(charge).startsWith(text)).length;
	}

	/** Each item of an execution has its own job, made from its own prompt. */
	private checkItems({ key, made }: Family, charges: Charge[]): void {
		for (const { run } of made) {
			const delivered = new Set<Charge>();
			const tasks = run.data.resultData.runData.Paid ?? [];
			for (const { json } of tasks.flatMap((task) => task.data?.main[0] ?? [])) {
				const shown = JSON.stringify({ ...json, media: undefined });
				const charge = charges.find(({ job = '' }) => shown.includes(job));
				if (!charge || json.error !== undefined) continue;
				const prompt = this.promptOf(charge);
				if (!prompt.startsWith(String(json.text)))
					throw new Error(`${key}: "${String(json.text)}" was given "${prompt}"`);
				if (delivered.has(charge)) throw new Error(`${key}: ${charge.job} was given to two items`);
				delivered.add(charge);
			}
		}
	}

	private promptOf({ job = '' }: Charge): string {
		return this.gateway.jobs.get(job)?.order.prompt ?? '';
	}
}

type Moment = NonNullable<(Step['stop'] | Step['kill']) & object>['at'];

const refused = { action: 'error', status: 400, code: 'invalid_request' } as const;

const isRequestOf =
	({ key }: Family) =>
	({ headers }: RecordedRequest) =>
		headers.authorization?.endsWith(key) ?? false;

/** Whether the outcome of every order is known, and each is tried until it is placed. */
const isCertain = ({ onError, steps }: Families) =>
	onError === 'stopWorkflow' &&
	steps.every(
		({ faults, stop, kill, breaks }) => !stop && !kill && !breaks && faults.every(isRefusal),
	);

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

/** Whether the execution has not ordered an item, because it found the Order Key used. */
function isFoundUsed(made: Made | undefined, text: string): boolean {
	if (!made || made.isChecked) return false;
	const tasks = made.run.data.resultData.runData.Paid ?? [];
	const items = tasks.flatMap((task) => task.data?.main[0] ?? []);
	return items.some(({ json }) => json.ordered === false && json.order_key === text);
}

function addTo({ made }: Family, { run, ...more }: Omit<Made, 'shown'>): void {
	made.push({ run, shown: JSON.stringify(run.data.resultData), ...more });
}

/** Outputs and errors name only jobs that the family has ordered. */
function checkOwners({ key, made }: Family, charges: Charge[]): void {
	const foreign = charges.filter(({ key: owner }) => owner !== key);
	for (const { run, shown } of made) {
		const named = foreign.find(({ job = '' }) => shown.includes(job));
		if (named) throw new Error(`${key}: execution ${run.executionId} names a job of ${named.key}`);
	}
}

/** A job whose response arrived is in what n8n stores. */
function checkJobs({ key, made }: Family, charges: Charge[], requests: RecordedRequest[]): void {
	const shown = made.map((one) => (one.isKept ? one.shown : '')).join();
	for (const { job = '', key: owner, requestId } of charges) {
		const isLost = requests.some((request) => request.requestId === requestId && request.fault);
		if (owner === key && !isLost && !shown.includes(job)) throw new Error(`${key}: ${job} is lost`);
	}
}

/** What happened: a line for each execution, in sequence. */
function storyOf(all: Family[], charges: Charge[]): string[] {
	const lines = all.flatMap(({ key, made }) =>
		made.map(({ run, shown, earlier, limits }) => {
			const jobs = charges.filter(({ job = '' }) => shown.includes(job));
			const named = jobs.map(({ job = '', key: owner }) => `${job.slice(0, 10)} of ${owner}`);
			const what = earlier ? `Retry of ${earlier}` : 'first execution';
			const end = `${run.status} ${run.errorOf('Paid')?.message ?? ''}`;
			const allowed = JSON.stringify(limits);
			return `${run.executionId} (${key}, ${what}, ${allowed}): ${end} [${named.join(', ')}]`;
		}),
	);
	return lines.sort((one, other) => parseInt(one) - parseInt(other));
}

function operationOf({ operation: name }: Families) {
	const operation = jobOperations.get(name);
	if (!operation) throw new Error(`There is no operation ${name}`);
	return operation;
}

const unlimited: Limits = {
	...{ perDay: undefined, costPerDay: undefined },
	...{ perExecution: undefined, costPerExecution: undefined, form: 'number' },
};
const generous: Limits = { ...unlimited, perDay: 2_000, costPerDay: 1_000 };

const limitNames = ['perDay', 'costPerDay', 'perExecution', 'costPerExecution'] as const;

/** What these limits of a node allow, for a list whose items have other ones. */
function effective(limits: Limits, ofItems: Limits): Limits {
	if (limits.form !== 'item') return limits;
	// Without a number in the items, nothing may be ordered.
	const own = limitNames.map((name) => [
		name,
		limits[name] === undefined ? undefined : (ofItems[name] ?? -1),
	]);
	return { ...unlimited, ...(Object.fromEntries(own) as Partial<Limits>) };
}

/** A limit as the user enters it. @param unit what one order counts */
function entered({ form, ...limits }: Limits, name: (typeof limitNames)[number], unit: number) {
	const limit = limits[name];
	if (limit === undefined) return undefined;
	const rounded = (value: number | string) => `Math.round(${value} * ${unit} * 100) / 100`;
	switch (form) {
		case 'number':
			return Math.round(limit * unit * 100) / 100;
		case 'expression':
			return `={{ ${rounded(limit)} }}`;
		case 'item':
			return `={{ ${rounded(`$json.limits.${name}`)} }}`;
		default:
			return `={{ ${rounded(`(Math.random() < 0.5 ? ${limit} : ${limit + 1})`)} }}`;
	}
}

/** The moment is set to the next day. */
function passMidnight(): void {
	jest.setSystemTime(Date.now() + 24 * 3_600_000);
}

interface NodeSettings {
	limits: Limits;
	isPreview: boolean;
}

/** A list that is ordered at once or one by one, and a node after it. */
function workflowOf(given: Families, settings: NodeSettings): WorkflowJson {
	const models = { resource: 'model', operation: 'getAll' };
	const deliver = modelGateway(models, { name: 'Deliver', executeOnce: true });
	if (!given.isLoop) return chain(nodeOf(given, settings), deliver);
	const { nodes, connections } = loopOver(nodeOf(given, settings));
	const Loop = { main: [to('Deliver'), to('Paid')] };
	return { nodes: [...nodes, deliver], connections: { ...connections, Loop } };
}

function nodeOf(given: Families, { limits, isPreview }: NodeSettings) {
	const { isReworded, hasKey, parallel, onError, retryOnFail, resends } = given;
	const { route, parameters } = operationOf(given);
	const prompt = isReworded ? '={{ $json.text }} {{ Math.random() }}' : '={{ $json.text }}';
	const options = withoutUndefined({
		...{ parallelRequests: parallel, includeInputFields: true },
		...(route === 'referenceVideoCreate' && { duration: 2 }),
		...(hasKey && { orderKey: '={{ $json.text }}' }),
		...(resends && { ifAnswerLost: 'resend' }),
		maxOrdersPerDay: entered(limits, 'perDay', 1),
		maxCostPerDay: entered(limits, 'costPerDay', costOfVideo),
		maxOrders: entered(limits, 'perExecution', 1),
		maxCost: entered(limits, 'costPerExecution', costOfVideo),
	});
	return modelGateway(
		{ ...parameters, prompt, options: inGroups(options), ...(isPreview && { preview: true }) },
		{ name: 'Paid', onError, retryOnFail, maxTries: 2, waitBetweenTries: 1 },
	);
}

describe('executions of one workflow in one process', () => {
	const checker = new FamilyChecker();
	let time: SimulatedTime;
	let distrust: () => void;

	beforeAll(async () => {
		time = new SimulatedTime(4);
		distrust = trustCertificate();
		await checker.start();
	});
	afterAll(async () => {
		distrust();
		await checker.close();
		await time.end();
	});

	const numRuns = Math.ceil(allRuns / parts);
	const seed = firstSeed + part;
	it(
		`executions share jobs only with their Retries, are charged once per item, and lose no job: ${numRuns} runs, seed ${seed}`,
		async () => {
			const property = fc.asyncProperty(families, async (given) => await checker.check(given));
			// Shrinking takes much longer than all runs.
			await fc.assert(property, { numRuns, seed, endOnFailure: true });
		},
		20 * 60_000,
	);
});
