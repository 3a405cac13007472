import type { Execution } from '../../support/owner';
import { isUnderWay, type OrderStage, type Plan } from './stage';

/** What became of one execution and of its orders. */
export interface OrderFate {
	form: string;
	moment: string;
	/** What n8n had of it after its end. */
	stored: string;
	/** What each Retry did. */
	retries: string[];
	/** How often each order was charged. */
	charges: number[];
	/** Whether an output, or an error, has every job. */
	isDelivered: boolean;
	/** Whether an error names an order that is open. */
	isNamed: boolean;
	/** Whether n8n has replaced what it had stored by nothing, so that a Retry runs no node. */
	isEmptied: boolean;
	/** What should not be. */
	problems: string[];
}

/** What is known of an execution before its orders are counted. */
export interface Trace {
	/** What n8n had stored of it after its end; undefined when it did not know it. */
	stored?: Execution;
	retries: string[];
}

/** What the error of a Retry says of an order that is open. */
const named = 'This order was sent before';

/** @param executions all of the workflow, when all is over */
export function fateOf(
	plan: Plan,
	{ stage, stored, retries, executions }: Trace & { stage: OrderStage; executions: Execution[] },
): OrderFate {
	const charges = stage.charges(plan);
	const texts = executions.map(({ data }) => textOf(data.resultData));
	const isNamed = texts.some((text) => text.includes(named));
	const isEmptied = stored?.data.executionData?.nodeExecutionStack.length === 0;
	const jobs = stage.jobs(plan);
	const unknown = jobs.filter((job) => !texts.some((text) => text.includes(job)));
	const isUnexplained = unknown.length > 0 && !isNamed && !isEmptied;
	const isUnsent = plan.moment?.isUnsent && !isEmptied && charges.some((count) => count === 0);
	return {
		form: plan.workflow.form,
		moment: plan.moment?.name ?? 'by chance',
		stored: storedState(stored, isEmptied, jobs),
		...{ retries, charges, isNamed, isEmptied },
		isDelivered: jobs.length > 0 && unknown.length === 0,
		problems: [
			...(charges.some((count) => count > 1) ? ['charged twice'] : []),
			...(isUnexplained ? [`nothing tells of ${unknown.join(', ')}`] : []),
			...(isUnsent ? ['never ordered'] : []),
			...executions
				.filter(({ status }) => isUnderWay(status))
				.map(({ id, status }) => `execution ${id} is ${status}`),
		],
	};
}

function storedState(stored: Execution | undefined, isEmptied: boolean, jobs: string[]): string {
	if (stored === undefined) return 'nothing';
	const text = textOf(stored.data.resultData.runData);
	const isKnown = jobs.length > 0 && jobs.every((job) => text.includes(job));
	if (isEmptied) return `${stored.status}, emptied`;
	return `${stored.status}${isKnown ? ', jobs' : ''}`;
}

/** What a Retry did. @param sent how many orders it has sent */
export function outcomeOf(retried: Execution | undefined, sent: number): string {
	if (retried === undefined) return 'refused by n8n';
	const { resultData } = retried.data;
	const error = textOf(resultData.error ?? {});
	const orders = sent > 0 ? `sends ${sent}` : 'sends none';
	if (error.includes(named)) return `${orders}, names it`;
	if (retried.status === 'error') return `${orders}, ${resultData.error?.message}`;
	return `${orders}, ${resultData.runData.Create ? retried.status : 'does nothing'}`;
}

const textOf = (value: unknown) => JSON.stringify(value ?? '');
