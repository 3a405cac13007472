import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { isObject } from '../../gateway/json';

/**
 * The form of what a node keeps in an execution. A release that changes it counts up, reads the forms before it, and
 * adds to the stored executions in `test/fixtures/executions`. What carries no number is of the first form.
 */
const form = 1;

/**
 * What this node keeps in the execution: n8n stores it with that, for later tries, passes and runs.
 * @returns undefined when it is of a newer release, or damaged
 */
export function nodeMemory(context: IExecuteFunctions): IDataObject | undefined {
	const memory = context.getContext('node');
	if (!isReadable(memory)) return undefined;
	memory.form = form;
	return memory;
}

function isReadable({ form: stored = form, ...parts }: IDataObject): boolean {
	const isKnown = Number.isInteger(stored) && Number(stored) <= form;
	return isKnown && Object.values(parts).every(isObject);
}

/** Begins anew in place of what cannot be read; for a node that takes all it needs from its input. */
export function clearNodeMemory(context: IExecuteFunctions): IDataObject {
	const memory = context.getContext('node');
	for (const key of Object.keys(memory)) delete memory[key];
	return Object.assign(memory, { form });
}

/** Rises whenever the node runs again in an execution, as in a loop, but not when a parked wait resumes. */
export function runIndexOf(context: IExecuteFunctions): number {
	return context.evaluateExpression('{{ $runIndex }}', 0) as number;
}
