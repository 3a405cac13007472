import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { picture } from '../engine/support/samples';
import { chain, modelGateway } from '../engine/support/workflows';
import { startGateway, type Charge, type Gateway, type RecordedRequest } from '../gateway';
import {
	processedItems,
	retryExecution,
	runWorkflow,
	SimulatedTime,
	type RunOptions,
	type StoredExecution,
	type WorkflowRun,
} from '../harness';
import { isDeep } from '../support/depth';
import { families, jobOperations, type Families, type Step } from './familyScenarios';

/** How many runs, and the seed that makes them the same every time; both can be set for a longer search. */
const allRuns = Number(process.env.FAMILY_RUNS ?? (isDeep ? 1_000 : 100));
const firstSeed = Number(process.env.FAMILY_SEED ?? 20_261_124);
/** Which part of them is this one's; see jest.deep.config.js. */
const { part, parts } = (globalThis as { familyRuns?: { part: number; parts: number } })
	.familyRuns ?? {
	...{ part: 0, parts: 1 },
};
/** The gateway remembers every request. */
const runsOfGateway = 100;

/** Each family has a key of its own, by which the service tells whose an order is. Nothing else differs. */
const keys = ['family-ada', 'family-bob', 'family-cyd'];

/** An execution and all its Retries. */
interface Family {
	key: string;
	/** What each item orders. */
	texts: string[];
	hasBegun: boolean;
	/** Those that n8n lets the user retry, as it keeps them. */
	failed: StoredExecution[];
	made: Made[];
}

interface Made {
	run: WorkflowRun;
	/** All outputs and errors. */
	shown: string;
	/** Whether n8n keeps these. */
	isKept: boolean;
	/** The execution that was retried. */
	earlier?: string;
}

/** One workflow, which several people start and retry, in one process of n8n. */
class Office {
	private gateway!: Gateway;
	private media: IDataObject[] = [];
	private runs = 0;
	/** Told of each call of n8n's store. */
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

	/** @throws Error when a family was given what another has ordered, paid twice, or lost a job */
	async check(given: Families): Promise<void> {
		if (++this.runs % runsOfGateway === 0) {
			await this.close();
			await this.start();
		}
		processedItems.clear();
		processedItems.intercept = () => this.onRecord.forEach((tell) => tell());
		const { gateway, runs } = this;
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const all = given.words.map((words, index): Family => {
			const texts = words.map((word) => `${word} of run ${runs}.`);
			return { key: keys[index], texts, hasBegun: false, failed: [], made: [] };
		});
		for (const together of groupsOf(given.steps)) {
			await Promise.all(together.map(async (step) => await this.take(step, all, given)));
		}
		// In the end, everybody gets what is left to have.
		for (const family of all) {
			if (family.made.at(-1)?.run.status !== 'success') await this.finish(family, given);
		}
		const charges = gateway.ledger.slice(before.charges);
		const requests = gateway.requests.slice(before.requests);
		try {
			for (const family of all) {
				checkOwners(family, charges);
				this.checkItems(family, charges);
				this.checkMoney(family, charges);
				checkJobs(family, charges, requests);
			}
		} catch (error) {
			throw new Error(`${String(error)}\n${storyOf(all, charges).join('\n')}`);
		}
	}

	/** Starts the family's first execution, or retries one of those that it has. */
	private async take(step: Step, all: Family[], given: Families): Promise<void> {
		const family = all[step.family];
		const earlier = family.failed.at(step.of % (family.failed.length || 1));
		if (family.hasBegun && !earlier) return;
		family.hasBegun = true;
		const { gateway, onRecord } = this;
		const { faults, stop: { at, times = 0 } = {}, keepsStart } = step;
		const { route } = operationOf(given);
		const isOwn = ({ headers }: RecordedRequest) =>
			headers.authorization?.endsWith(family.key) ?? false;
		let stop = () => {};
		let stored: StoredExecution | undefined;
		let left = times;
		const count = () => void (--left === 0 && stop());
		const onRequest = (request: RecordedRequest) => void (isOwn(request) && count());
		const onArrival = (request: RecordedRequest) => {
			if (at === 'arrival' && isOwn(request)) count();
			return false;
		};
		const armed = [
			gateway.fault({ route, action: 'reset', times: Infinity, when: onArrival }),
			...faults.map(({ fault, ...rule }) =>
				gateway.fault({ ...fault, ...rule, route, when: isOwn }),
			),
		];
		if (at === 'request') gateway.on('request', onRequest);
		if (at === 'record') onRecord.add(count);
		const run = await this.execute(family, given, {
			earlier,
			onStart(cancel, start) {
				stop = cancel;
				stored = start;
				if (at === 'begin') stop();
			},
		});
		for (const fault of armed) fault.remove();
		gateway.off('request', onRequest);
		onRecord.delete(count);

		// The Retry of a stopped node that continues on error runs nothing in n8n, where its error is stored.
		// Nor does that of one that was stopped before its first node, whose error stays in what n8n stores.
		const hasRun = run.data.resultData.lastNodeExecuted !== undefined;
		const isStored = !keepsStart && given.onError === 'stopWorkflow' && hasRun;
		const isKept = run.status !== 'canceled' || isStored;
		addTo(family, { run, isKept, earlier: earlier?.executionId });
		if (run.status !== 'success') family.failed.push(isKept || !stored ? run : stored);
	}

	private async finish(family: Family, given: Families): Promise<void> {
		const earlier = family.failed.at(-1);
		if (!earlier) return;
		const run = await this.execute(family, given, { earlier });
		addTo(family, { run, isKept: true, earlier: earlier.executionId });
	}

	private async execute(
		{ key, texts }: Family,
		given: Families,
		{ earlier, onStart }: { earlier?: StoredExecution } & Pick<RunOptions, 'onStart'>,
	): Promise<WorkflowRun> {
		const { gateway, media } = this;
		const settings: RunOptions = {
			credentials: { modelGatewayApi: { apiKey: key, baseUrl: gateway.url } },
			onStart,
		};
		if (earlier) return await retryExecution(earlier, settings);
		const input = texts.map((text) => ({ json: { text, media } }));
		return await runWorkflow(chain(nodeOf(given)), { ...settings, input, mode: 'trigger' });
	}

	/** No item is paid for twice. */
	private checkMoney({ key, texts }: Family, charges: Charge[]): void {
		const own = charges.filter((charge) => charge.key === key);
		for (const text of new Set(texts)) {
			const items = texts.filter((other) => other === text).length;
			const paid = own.filter((charge) => this.promptOf(charge).startsWith(text)).length;
			if (paid > items) throw new Error(`${key}: "${text}" was paid ${paid} times`);
		}
	}

	/** Each item of an execution has a job of its own, made of its own prompt. */
	private checkItems({ key, texts, made }: Family, charges: Charge[]): void {
		for (const { run } of made) {
			const task = run.data.resultData.runData.Paid?.at(-1);
			const delivered = new Set<Charge>();
			for (const { json, pairedItem } of task?.data?.main[0] ?? []) {
				const shown = JSON.stringify(json);
				const charge = charges.find(({ job = '' }) => shown.includes(job));
				if (!charge || json.error !== undefined) continue;
				const text = texts[(pairedItem as { item: number }).item];
				const prompt = this.promptOf(charge);
				if (!prompt.startsWith(text)) throw new Error(`${key}: "${text}" was given "${prompt}"`);
				if (delivered.has(charge)) throw new Error(`${key}: ${charge.job} was given to two items`);
				delivered.add(charge);
			}
		}
	}

	private promptOf({ job = '' }: Charge): string {
		return this.gateway.jobs.get(job)?.order.prompt ?? '';
	}
}

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

/** Outputs and errors name only jobs that the family has ordered. */
function checkOwners({ key, made }: Family, charges: Charge[]): void {
	const foreign = charges.filter(({ key: owner }) => owner !== key);
	for (const { run, shown } of made) {
		const named = foreign.find(({ job = '' }) => shown.includes(job));
		if (named) throw new Error(`${key}: execution ${run.executionId} names a job of ${named.key}`);
	}
}

/** A job whose response has arrived shows in what n8n keeps. */
function checkJobs({ key, made }: Family, charges: Charge[], requests: RecordedRequest[]): void {
	const shown = made.map((one) => (one.isKept ? one.shown : '')).join();
	for (const { job = '', key: owner, requestId } of charges) {
		const isLost = requests.some((request) => request.requestId === requestId && request.fault);
		if (owner === key && !isLost && !shown.includes(job)) throw new Error(`${key}: ${job} is lost`);
	}
}

/** What happened, a line for each execution, in their order. */
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

function nodeOf(given: Families) {
	const { isReworded, parallel, onError, retryOnFail } = given;
	const { route, parameters } = operationOf(given);
	const prompt = isReworded ? '={{ $json.text }} {{ Math.random() }}' : '={{ $json.text }}';
	const options = {
		parallelRequests: parallel,
		...(route === 'referenceVideoCreate' && { duration: 2 }),
	};
	return modelGateway(
		{ ...parameters, prompt, options },
		{ name: 'Paid', onError, retryOnFail, maxTries: 2, waitBetweenTries: 1 },
	);
}

describe('executions of one workflow in one process', () => {
	const office = new Office();
	let time: SimulatedTime;

	beforeAll(async () => {
		time = new SimulatedTime(4);
		await office.start();
	});
	afterAll(async () => {
		await office.close();
		await time.end();
	});

	const numRuns = Math.ceil(allRuns / parts);
	const seed = firstSeed + part;
	it(
		`share jobs with their Retries only, pay for each item once, and lose no job: ${numRuns} runs, seed ${seed}`,
		async () => {
			const property = fc.asyncProperty(families, async (given) => await office.check(given));
			await fc.assert(property, { numRuns, seed });
		},
		20 * 60_000,
	);
});
