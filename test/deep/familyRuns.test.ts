import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { setTimeout } from 'node:timers/promises';
import { picture } from '../support/samples';
import { chain, loopOver, modelGateway, to } from '../support/workflows';
import {
	startGateway,
	type Charge,
	type Gateway,
	type FaultRule,
	type RecordedRequest,
	type Route,
} from '../gateway';
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
import { startBreakingTls, trustCertificate } from '../support/breakingTls';
import { families, isRefusal, jobOperations, type Families, type Step } from './familyScenarios';

/** The number of runs, and the seed that makes them reproducible. Both can be set for a longer search. */
const allRuns = Number(process.env.FAMILY_RUNS ?? 1_000);
const firstSeed = Number(process.env.FAMILY_SEED ?? 20_261_124);
/** Which part of the runs this file has; see jest.deep.config.js. */
const { part, parts } = (globalThis as { familyRuns?: { part: number; parts: number } })
	.familyRuns ?? {
	...{ part: 0, parts: 1 },
};
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
	failed: StoredExecution[];
	made: Made[];
	/** Whether a response of the service may never have reached n8n. */
	isUnheard?: boolean;
}

interface Made {
	run: WorkflowRun;
	/** All outputs and errors. */
	shown: string;
	/** Whether n8n stores them. */
	isKept: boolean;
	/** The execution that was retried. */
	earlier?: string;
}

/** Runs one workflow that several people start and retry in one n8n process, which may be killed and restarted. */
class FamilyChecker {
	private gateway!: Gateway;
	private media: IDataObject[] = [];
	private runs = 0;
	/** The texts of items that were added to a list during this run. */
	private added: string[] = [];
	private n8n = new EngineProcess();
	/** Called at each call of n8n's store. */
	private readonly onRecord = new Set<() => void>();

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
		processedItems.intercept = () => this.onRecord.forEach((call) => call());
		this.n8n = new EngineProcess();
		const { gateway, runs } = this;
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const all = given.words.map((words, index): Family => {
			const texts = words.map((word) => `${word} of run ${runs}.`);
			return { key: keys[index], texts, hasBegun: false, failed: [], made: [] };
		});
		for (const together of groupsOf(given.steps)) await this.takeAll(together, all, given);
		await this.n8n.run(async () => await this.finish(all, given));
		// A request of an n8n that was killed in an earlier run may arrive late.
		const isOwn = (charge: Charge) => this.promptOf(charge).includes(` run ${runs}.`);
		const charges = gateway.ledger.slice(before.charges).filter(isOwn);
		const requests = gateway.requests.slice(before.requests);
		try {
			checkDay(charges, given);
			for (const { key } of all) checkExecution(key, charges, given);
			for (const family of all) {
				checkOwners(family, charges);
				this.checkItems(family, charges);
				this.checkMoney(family, charges, given);
				if (family.hasBegun && isCertain(given)) this.checkOrders(family, charges, given);
				// After Stop, only n8n's log and highlighted data name the job of an added item that a later list lacks.
				const listed = charges.filter((charge) => !this.isOfAdded(charge));
				if (!family.isUnheard) checkJobs(family, listed, requests);
			}
		} catch (error) {
			throw new Error(`${String(error)}\n${storyOf(all, charges).join('\n')}`);
		}
	}

	/** Runs steps at the same time, until all are over or n8n is killed. */
	private async takeAll(steps: Step[], all: Family[], given: Families): Promise<void> {
		const { gateway, n8n } = this;
		const underWay = new Map<StoredExecution, Family>();
		const onEnd: Array<() => unknown> = [];
		const before = gateway.requests.length;
		let over = 0;
		const count = () => void over++;
		gateway.on('request', count);
		const take = async (step: Step) => await this.take(step, all, given, { underWay, onEnd });
		await n8n.run(async () => await Promise.all(steps.map(take)));
		if (n8n.isKilled) {
			// Requests under way still arrive.
			while (gateway.requests.length > before + over) await setTimeout(1);
			// n8n stores these executions as they were at their start. What else it knew is only in its log.
			for (const family of all) family.isUnheard = true;
			for (const [stored, family] of underWay) {
				family.failed.push(recoverExecution(stored, { ended: ['Start', 'Loop'], begun: 'Paid' }));
			}
			this.n8n = new EngineProcess();
		}
		gateway.off('request', count);
		for (const end of onEnd) await end();
	}

	/** Starts the family's first execution, or retries one of its executions. */
	private async take(
		{ family: index, of, ...step }: Step,
		all: Family[],
		given: Families,
		{ underWay, onEnd }: { underWay: Map<StoredExecution, Family>; onEnd: Array<() => unknown> },
	): Promise<void> {
		const family = all[index];
		const earlier = family.failed.at(of % (family.failed.length || 1));
		if (family.hasBegun && !earlier) return;
		family.hasBegun = true;
		const { gateway, n8n } = this;
		const { stop, kill, breaks, moved, keepsStart } = step;
		const front = breaks && (await startBreakingTls(gateway.url, breaks));
		if (front) {
			family.isUnheard = true;
			onEnd.push(front.close);
		}
		onEnd.push(...this.arm(step, family, operationOf(given).route));
		let stored: StoredExecution | undefined;
		const run = await this.execute(family, given, {
			earlier: earlier && moved ? this.withMoved(earlier, moved) : earlier,
			url: front?.url,
			onStart: (cancel, start) => {
				stored = start;
				underWay.set(start, family);
				if (stop) onEnd.push(this.when(stop, family, given, cancel));
				if (kill) onEnd.push(this.when(kill, family, given, () => n8n.kill()));
			},
		});
		if (n8n.isKilled) return;
		if (stored) underWay.delete(stored);

		// n8n stores the error of a stopped node that continues on error, and its Retry runs nothing.
		// The same applies to an execution that was stopped before its first node.
		const hasRun = run.data.resultData.lastNodeExecuted !== undefined;
		const isStored = !keepsStart && given.onError === 'stopWorkflow' && hasRun;
		const isKept = run.status !== 'canceled' || isStored;
		addTo(family, { run, isKept, earlier: earlier?.executionId });
		if (run.status !== 'success') family.failed.push(isKept || !stored ? run : stored);
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
		const { gateway, onRecord } = this;
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
				onRecord.add(count);
				return () => onRecord.delete(count);
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
		for (const family of all) {
			const earlier = family.failed.at(-1);
			if (!earlier || family.made.at(-1)?.run.status === 'success') continue;
			const run = await this.execute(family, given, { earlier });
			addTo(family, { run, isKept: true, earlier: earlier.executionId });
		}
		if (!given.hasKey) return;
		const [family] = all;
		for (const text of new Set(all.flatMap(({ texts }) => texts))) {
			const run = await this.execute({ ...family, texts: [text] }, given, {});
			addTo(family, { run, isKept: true });
		}
	}

	private async execute(
		{ key, texts }: Pick<Family, 'key' | 'texts'>,
		given: Families,
		{
			earlier,
			url = this.gateway.url,
			onStart,
		}: { earlier?: StoredExecution; url?: string } & Pick<RunOptions, 'onStart'>,
	): Promise<WorkflowRun> {
		const settings: RunOptions = {
			credentials: { modelGatewayApi: { apiKey: key, baseUrl: url, advanced: true, prices } },
			onStart,
		};
		if (earlier) return await retryExecution(earlier, settings);
		const input = this.itemsOf(texts);
		return await runWorkflow(workflowOf(given), { ...settings, input, mode: 'trigger' });
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
		first.data.main = [[...this.itemsOf(added), ...items.slice(by), ...items.slice(0, by)]];
		return { ...earlier, data };
	}

	private itemsOf(texts: string[]) {
		return texts.map((text) => ({ json: { text, media: this.media } }));
	}

	/** No item is charged twice. With an Order Key, no two executions order the same. */
	private checkMoney({ key, texts }: Family, charges: Charge[], { hasKey }: Families): void {
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
const isCertain = ({ onError, perDay, costPerDay, costPerExecution, steps }: Families) =>
	onError === 'stopWorkflow' &&
	[perDay, costPerDay, costPerExecution].every((limit) => limit === undefined) &&
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

function addTo({ made }: Family, { run, ...more }: Omit<Made, 'shown'>): void {
	made.push({ run, shown: JSON.stringify(run.data.resultData), ...more });
}

/** All families together order no more than the node may in a day. */
function checkDay(charges: Charge[], { perDay = Infinity, costPerDay = Infinity }: Families): void {
	if (charges.length > Math.min(perDay, costPerDay))
		throw new Error(`${charges.length} were ordered on one day`);
}

/** A family orders no more than one execution may, with all its Retries. */
function checkExecution(
	key: string,
	charges: Charge[],
	{ costPerExecution = Infinity, hasKey }: Families,
): void {
	const own = charges.filter(({ key: owner }) => owner === key);
	// With an Order Key, separate executions at the end order what is still missing.
	if (own.length > costPerExecution && !hasKey)
		throw new Error(`${key}: ${own.length} were ordered by one execution`);
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
		made.map(({ run, shown, earlier }) => {
			const jobs = charges.filter(({ job = '' }) => shown.includes(job));
			const named = jobs.map(({ job = '', key: owner }) => `${job.slice(0, 10)} of ${owner}`);
			const what = earlier ? `Retry of ${earlier}` : 'first execution';
			const end = `${run.status} ${run.errorOf('Paid')?.message ?? ''}`;
			return `${run.executionId} (${key}, ${what}): ${end} [${named.join(', ')}]`;
		}),
	);
	return lines.sort((one, other) => parseInt(one) - parseInt(other));
}

function operationOf({ operation: name }: Families) {
	const operation = jobOperations.get(name);
	if (!operation) throw new Error(`There is no operation ${name}`);
	return operation;
}

/** A list that is ordered at once or one by one, and a node after it. */
function workflowOf(given: Families): WorkflowJson {
	const models = { resource: 'model', operation: 'getAll' };
	const deliver = modelGateway(models, { name: 'Deliver', executeOnce: true });
	if (!given.isLoop) return chain(nodeOf(given), deliver);
	const { nodes, connections } = loopOver(nodeOf(given));
	const Loop = { main: [to('Deliver'), to('Paid')] };
	return { nodes: [...nodes, deliver], connections: { ...connections, Loop } };
}

function nodeOf(given: Families) {
	const { isReworded, hasKey, perDay, costPerDay, costPerExecution } = given;
	const { parallel, onError, retryOnFail } = given;
	const { route, parameters } = operationOf(given);
	const prompt = isReworded ? '={{ $json.text }} {{ Math.random() }}' : '={{ $json.text }}';
	const options = {
		...{ parallelRequests: parallel, includeInputFields: true },
		...(route === 'referenceVideoCreate' && { duration: 2 }),
		...(hasKey && { orderKey: '={{ $json.text }}' }),
		...(perDay !== undefined && { maxOrdersPerDay: perDay }),
		...(costPerDay !== undefined && { maxCostPerDay: costPerDay * costOfVideo }),
		...(costPerExecution !== undefined && { maxCost: costPerExecution * costOfVideo }),
	};
	return modelGateway(
		{ ...parameters, prompt, options },
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
			await fc.assert(property, { numRuns, seed });
		},
		20 * 60_000,
	);
});
