import type { IExecuteFunctions } from 'n8n-workflow';

/** Counts up whenever the node is run anew in an execution, as in a loop, but not from pass to pass. */
export function runIndexOf(context: IExecuteFunctions): number {
	return context.evaluateExpression('{{ $runIndex }}', 0) as number;
}

/** Remembers that there is a job of which n8n's database does not know. */
export function noteOrder(context: IExecuteFunctions): void {
	memoryOf(context).hasNewOrders = true;
}

/** Whether n8n has stored the execution, and with it the jobs, since the last order. */
export function wasParked(context: IExecuteFunctions): boolean {
	return memoryOf(context).hasNewOrders === false;
}

/** What the nodes of one execution share; n8n stores it with the execution. */
interface Memory {
	/** When the n8n that parked the execution last began, in milliseconds since 1970. */
	parkedBy?: number;
	/** Whether something was ordered since the execution was parked last; undefined when it never was. */
	hasNewOrders?: boolean;
}

export function memoryOf(context: IExecuteFunctions): Memory {
	return (context.getContext('flow').modelGateway ??= {}) as Memory;
}
