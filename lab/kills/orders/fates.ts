import type { Execution } from '../../../test/n8n/owner';
import type { Scenes, Plan } from './scenes';

/** The outcome of one execution and its orders. */
export interface OrderFate {
	form: string;
	moment: string;
	/** The state that n8n had stored of it after the kill. */
	stored: string;
	/** The outcome of each Retry. */
	retries: string[];
	/** How often each order was charged. */
	charges: number[];
	/** Whether every job is in an output or an error. */
	isDelivered: boolean;
	/** Whether an error names an order whose outcome is unknown. */
	isNamed: boolean;
	/** Whether n8n has emptied what it had stored, so that a Retry runs no node. */
	isEmptied: boolean;
	/** The promises that were broken. */
	problems: string[];
}

/** The facts of an execution before its orders are counted. */
export interface Trace {
	/** The state that n8n had stored of it after the kill; undefined if it had stored nothing. */
	stored?: Execution;
	retries: string[];
}

/** The words of a Retry's error about an order whose outcome is unknown; its prompt follows. */
const named = 'This order was sent before';

interface Outcome extends Trace {
	scenes: Scenes;
	/** All executions of the workflow, at the end. */
	executions: Execution[];
	/** Those of them that have not ended. */
	hanging: Execution[];
}

export function fateOf(
	plan: Plan,
	{ scenes, stored, retries, executions, hanging }: Outcome,
): OrderFate {
	const charges = scenes.charges(plan);
	const texts = executions.map(({ data }) => textOf(data.resultData));
	const isNamed = texts.some((text) => text.includes(named));
	// In queue mode, n8n empties an execution only seconds after the kill.
	const original = executions.find(({ id }) => id === stored?.id);
	const isEmptied = original !== undefined && hasNothingToRun(original);
	const jobs = scenes.jobs(plan);
	const isShown = (word: string) => texts.some((text) => text.includes(word));
	const unknown = jobs.filter(({ id }) => !isShown(id));
	const unexplained = unknown.filter(({ prompt }) => !isNamed || !isShown(`“${prompt}”`));
	const isUnsent = plan.moment?.isUnsent && !isEmptied && charges.some((count) => count === 0);
	return {
		form: plan.workflow.form,
		moment: plan.moment?.name ?? 'at random',
		stored: storedState(
			stored,
			isEmptied,
			jobs.map(({ id }) => id),
		),
		retries,
		charges,
		isNamed,
		isEmptied,
		isDelivered: jobs.length > 0 && unknown.length === 0,
		problems: [
			...(charges.some((count) => count > 1) ? ['charged twice'] : []),
			...(isEmptied ? [] : unexplained.map(({ id }) => `no output names ${id}`)),
			...(isUnsent ? ['never ordered'] : []),
			...hanging.map(({ id, status }) => `execution ${id} is ${status}`),
		],
	};
}

/** Whether n8n has emptied what it had stored of a failed execution, so that a Retry runs no node. */
export const hasNothingToRun = ({ status, data }: Execution) =>
	status !== 'success' && data.executionData?.nodeExecutionStack.length === 0;

function storedState(stored: Execution | undefined, isEmptied: boolean, jobs: string[]): string {
	if (stored === undefined) return 'nothing';
	if (isEmptied) return `${stored.status}, emptied`;
	const text = textOf(stored.data.resultData.runData);
	const isKnown = jobs.length > 0 && jobs.every((job) => text.includes(job));
	return `${stored.status}${isKnown ? ', jobs' : ''}`;
}

/** The outcome of a Retry. @param sent the number of orders that it has sent */
export function outcomeOf(retried: Execution | undefined, sent: number): string {
	if (retried === undefined) return 'refused by n8n';
	const { resultData } = retried.data;
	const error = textOf(resultData.error ?? {});
	const orders = sent > 0 ? `sends ${sent}` : 'sends none';
	if (error.includes(named)) return `${orders}, names the order`;
	if (isEmpty(retried)) return `${orders}, runs nothing`;
	return `${orders}, ${retried.status === 'error' ? resultData.error?.message : retried.status}`;
}

const isEmpty = ({ data }: Execution) =>
	data.executionData?.nodeExecutionStack.length === 0 &&
	Object.keys(data.resultData.runData).length === 0;

const textOf = (value: unknown) => JSON.stringify(value ?? '');
