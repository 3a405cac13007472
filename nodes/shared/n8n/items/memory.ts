import type { IExecuteFunctions } from 'n8n-workflow';

/** Rises whenever the node runs again in an execution, as in a loop, but not when a parked wait resumes. */
export function runIndexOf(context: IExecuteFunctions): number {
	return context.evaluateExpression('{{ $runIndex }}', 0) as number;
}

/** Remembers that a job was created which n8n's database does not know yet. */
export function noteNewJob(context: IExecuteFunctions): void {
	memoryOf(context).hasNewOrders = true;
}

/** Whether n8n has stored the execution, and with it all jobs, since the last one was created. */
export function wasParked(context: IExecuteFunctions): boolean {
	return memoryOf(context).hasNewOrders === false;
}

/** State that the nodes of one execution share; n8n stores it with the execution. */
interface Memory {
	/** When the n8n process that last parked the execution was started, in milliseconds since 1970. */
	parkedBy?: number;
	/** Whether a job was created since the execution was last parked; undefined when neither has happened. */
	hasNewOrders?: boolean;
}

export function memoryOf(context: IExecuteFunctions): Memory {
	return (context.getContext('flow').modelGateway ??= {}) as Memory;
}
