import type { Charge, Gateway } from '../../../gateway';
import type { EngineProcess, StoredExecution, WorkflowRun } from '../../harness';
import { isOrder, makesJob, type Fault, type Limits, type Scenario } from './model';

/** A paid request that reached the service. */
export interface Sent {
	/** The family that sent it. */
	key: string;
	/** Those of the items that it orders. */
	texts: string[];
	/** Its line in the billing log. */
	charge?: Charge;
	fault?: Fault;
}

/** The paid requests of a run, from this one on. One of an n8n that was killed in an earlier run may arrive late. */
export function sentIn({ requests, ledger }: Gateway, run: number, from: number): Sent[] {
	const text = new RegExp(`\\w+ of run ${run}\\.`, 'g');
	return requests.slice(from).flatMap(({ body, headers, fault, requestId }) => {
		const texts = JSON.stringify(body ?? '').match(text);
		const key = headers.authorization?.replace('Bearer ', '') ?? '';
		const charge = ledger.find((one) => one.requestId === requestId);
		return texts ? [{ key, texts, charge, fault: fault as Fault | undefined }] : [];
	});
}

/** An execution and all its Retries. */
export interface Family {
	key: string;
	/** The order of each item. */
	texts: string[];
	hasBegun: boolean;
	/** The executions that n8n lets the user retry, as n8n stores them, with the limits of their node. */
	failed: Array<{ execution: StoredExecution; limits: Limits }>;
	made: Made[];
	/** Whether an execution was stopped, or killed. */
	isStopped?: boolean;
	isKilled?: boolean;
	/** Whether several Retries were executed at the same time. */
	areAtOnce?: boolean;
	/** The workers that executed it, and those in which n8n's store failed meanwhile. */
	workers: Set<EngineProcess>;
	failedIn: Set<EngineProcess>;
	/** Whether what n8n could not record was lost with a killed process. */
	isUnguarded?: boolean;
	/** Whether a response of the service may never have reached n8n. */
	isUnheard?: boolean;
	/** Whether orders may have been recorded that were never sent. */
	isUnsure?: boolean;
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
}

/** The events of a run, after its end. */
export interface Facts {
	given: Scenario;
	families: Family[];
	/** The texts of items that were added to a list. */
	added: string[];
	sent: Sent[];
	/** Whether n8n's store still has all that was recorded. */
	isStoreWhole: boolean;
}

/** @throws Error when money, a job or an Order Key was lost */
export function checkAll(facts: Facts): void {
	checkKeys(facts);
	for (const family of facts.families) {
		checkOwners(family, facts);
		checkItems(family, facts);
		checkMoney(family, facts);
		checkOrders(family, facts);
		checkJobs(family, facts);
		checkRefusals(family, facts);
	}
}

const timesCharged = (text: string, sent: Sent[]) =>
	sent.flatMap(({ charge, texts }) => (charge ? texts : [])).filter((one) => one === text).length;

/** How often a text may be charged, and the requests that count. With an Order Key, no two executions order the same. */
function allowed(text: string, { key, texts }: Family, { given, sent }: Facts) {
	const items = texts.filter((one) => one === text).length;
	return given.hasKey
		? { items: 1, own: sent }
		: { items: Math.max(1, items), own: sent.filter((one) => one.key === key) };
}

/** No item is charged twice, unless its response was lost, and the user wants it sent again. */
function checkMoney(family: Family, facts: Facts): void {
	const { given, added, isStoreWhole } = facts;
	const { operation, hasKey, resends } = given;
	const isElsewhere = family.isKilled === true || family.workers.size > 1;
	// n8n's store guards videos and Order Keys, and the process images. Only the execution has chats and the like.
	const isGuarded = makesJob(operation) || hasKey;
	const isLost = isGuarded
		? (isElsewhere || hasKey) && !isStoreWhole
		: isElsewhere || (family.isStopped && !isOrder(operation));
	// It is not known which responses have arrived there, and a lost one is sent again where the user wants it.
	const isUnheard = (hasKey ? facts.families : [family]).some(
		(one) => one.isStopped || one.isKilled || one.isUnheard,
	);
	if (family.isUnguarded || isLost || (resends && isUnheard)) return;
	for (const text of [...family.texts, ...added]) {
		const { items, own } = allowed(text, family, facts);
		const charged = timesCharged(text, own);
		const lost = own.filter(({ fault }) => fault && !fault.isRefusal);
		const resent = resends ? timesCharged(text, lost) : 0;
		if (charged > items + resent)
			throw new Error(`${family.key}: "${text}" was charged ${charged} times`);
	}
}

/** Everything is ordered at the end, when the outcome of every order is known and each is tried until it is placed. */
function checkOrders(family: Family, facts: Facts): void {
	const { steps, onError } = facts.given;
	const isCertain =
		onError === 'stopWorkflow' &&
		steps.every(
			({ faults, stop, kill, breaks, preview }) =>
				!stop && !kill && !preview?.kill && !breaks && faults.every(({ fault }) => fault.isRefusal),
		);
	if (!family.hasBegun || !isCertain || family.isUnguarded || !facts.isStoreWhole) return;
	for (const text of family.texts) {
		const { items, own } = allowed(text, family, facts);
		const charged = timesCharged(text, own);
		if (charged < items) throw new Error(`${family.key}: "${text}" was ordered ${charged} times`);
	}
}

/** An Order Key is free at the end, unless an order with it may have been sent. */
function checkKeys({ given, families, sent, isStoreWhole }: Facts): void {
	if (!given.hasKey || !isStoreWhole) return;
	const unsure = families.flatMap(({ isUnsure, texts }) => (isUnsure ? texts : []));
	const accepted = sent.flatMap(({ texts, fault }) => (fault?.isRefusal ? [] : texts));
	const used = new Set([...unsure, ...accepted]);
	const lost = families.flatMap(({ texts }) => texts).find((text) => !used.has(text));
	if (lost !== undefined) throw new Error(`The Order Key "${lost}" is lost`);
}

/** Outputs and errors name only jobs that the family has ordered. */
function checkOwners({ key, made }: Family, { sent }: Facts): void {
	const others = sent.filter((one) => one.key !== key);
	for (const { run, shown } of made) {
		const named = others.find(({ charge }) => charge?.job && shown.includes(charge.job));
		if (named) throw new Error(`${key}: execution ${run.executionId} names a job of ${named.key}`);
	}
}

/** Each item of an execution has its own job, made from its own prompt. */
function checkItems({ key, made }: Family, { sent }: Facts): void {
	for (const { run } of made) {
		const delivered = new Set<Sent>();
		const tasks = run.data.resultData.runData.Paid ?? [];
		for (const { json } of tasks.flatMap((task) => task.data?.main[0] ?? [])) {
			const shown = JSON.stringify({ ...json, media: undefined });
			const order = sent.find(({ charge }) => charge?.job && shown.includes(charge.job));
			if (!order || json.error !== undefined) continue;
			const text = String(json.text);
			if (!order.texts.includes(text))
				throw new Error(`${key}: "${text}" was given "${order.texts.join()}"`);
			if (delivered.has(order)) throw new Error(`${key}: a job of "${text}" was given twice`);
			delivered.add(order);
		}
	}
}

/** A job whose response arrived is in what n8n stores. */
function checkJobs(family: Family, { sent, added }: Facts): void {
	const { key, made, isStopped, isUnheard, workers } = family;
	// Another worker does not know what n8n did not store.
	if (isUnheard || (isStopped && workers.size > 1)) return;
	const shown = made.map((one) => (one.isKept ? one.shown : '')).join();
	for (const { key: owner, texts, charge: { job } = {}, fault } of sent) {
		const hasArrived = fault === undefined || fault.action === 'headers';
		// After Stop, only n8n's log and highlighted data name the job of an added item that a later list lacks.
		const isListed = !texts.some((text) => added.includes(text));
		if (owner === key && job && hasArrived && isListed && !shown.includes(job))
			throw new Error(`${key}: ${job} of "${texts.join()}" is lost`);
	}
}

/** No order that was certainly never accepted is taken for sent. */
function checkRefusals({ key, made, isUnsure, areAtOnce }: Family, { sent }: Facts): void {
	// A Retry takes an order for sent that another one is placing at that moment.
	if (isUnsure || areAtOnce) return;
	const mayBeAccepted = sent.some((one) => one.key === key && !one.fault?.isRefusal);
	const named = made.find(({ shown }) => shown.includes('was sent before'));
	if (named && !mayBeAccepted) throw new Error(`${key}: an order was taken for sent`);
}

/** The events: a line for each execution, in sequence. */
export function storyOf({ families, sent }: Facts): string {
	const lines = families.flatMap(({ key, made }) =>
		made.map(({ run, shown, earlier, limits }) => {
			const jobs = sent.filter(({ charge }) => charge?.job && shown.includes(charge.job));
			const named = jobs.map((one) => `${one.texts.join()} of ${one.key}`);
			const what = earlier ? `Retry of ${earlier}` : 'first execution';
			const end = `${run.status} ${run.errorOf('Paid')?.message ?? ''}`;
			const allows = JSON.stringify(limits);
			return `${run.executionId} (${key}, ${what}, ${allows}): ${end} [${named.join(', ')}]`;
		}),
	);
	return lines.sort((one, other) => parseInt(one) - parseInt(other)).join('\n');
}
