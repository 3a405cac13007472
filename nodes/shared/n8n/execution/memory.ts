import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { JobSummary } from '../../service/errors/jobSummary';
import { isObject } from '../../service/json';

/**
 * The version of the data that a node stores with an execution. A release that changes it counts up, still reads all
 * earlier versions, and adds executions to `test/fixtures/executions`.
 */
const form = 2;

/** What n8n stores of this node with the execution; undefined when a newer release has stored it or it is damaged. */
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

/** Deletes data that cannot be read. Only for a node that can start again from its input. */
export function clearNodeMemory(context: IExecuteFunctions): IDataObject {
	const memory = context.getContext('node');
	for (const key of Object.keys(memory)) delete memory[key];
	return Object.assign(memory, { form });
}

/** Rises when the node runs again, as in a loop, but not when a wait resumes. */
export function runIndexOf(context: IExecuteFunctions): number {
	return context.evaluateExpression('{{ $runIndex }}', 0) as number;
}

/** Whether n8n's database has every job of the execution. All nodes of the execution share it. */
export class StoredJobs {
	private readonly state: State;

	constructor(context: IExecuteFunctions) {
		const flow = context.getContext('flow');
		if (!isObject(flow.modelGateway)) flow.modelGateway = {};
		this.state = flow.modelGateway as State;
	}

	/** So far, only this process has its ID. */
	jobCreated(): void {
		this.state.hasUnstoredJobs = true;
	}

	/** The execution is about to be parked, so n8n stores it with all its jobs. */
	executionParked(): void {
		this.state.hasUnstoredJobs = false;
		this.state.parkedBy = performance.timeOrigin;
	}

	get areAllStored(): boolean {
		return this.state.hasUnstoredJobs === false;
	}

	/** Whether another process parked the execution: n8n has restarted since then, or another worker resumed it. */
	get wasParkedByOtherProcess(): boolean {
		const { parkedBy } = this.state;
		return parkedBy !== undefined && parkedBy !== performance.timeOrigin;
	}
}

interface State {
	/** Undefined while no job was created and nothing was parked. */
	hasUnstoredJobs?: boolean;
	/** The start of the n8n process that last parked the execution, in milliseconds since 1970. */
	parkedBy?: number;
}

/** Few, because n8n allows ten names per execution, and the user may need them. */
const names = ['video_jobs', 'video_jobs_2', 'video_jobs_3'];

/** Characters. n8n logs a warning for a longer value. */
const maxLength = 255;

/**
 * Adds the ID of a new job to the execution's highlighted data, which n8n also calls custom data: it stores them even when
 * the execution is stopped, and can filter its list by them. An ID that does not fit any more is left out.
 */
export function highlightJob(context: IExecuteFunctions, { id }: JobSummary): void {
	try {
		const customData = customDataOf(context);
		for (const name of names) {
			const before: string | undefined = customData.get(name);
			const value = before ? `${before}, ${id}` : id;
			if (value.length > maxLength) continue;
			customData.set(name, value);
			return;
		}
	} catch {
		// Some contexts have no such data. The output and the log have the ID.
	}
}

/** The custom data of the execution, which n8n 1 gives to expressions only. */
function customDataOf(context: IExecuteFunctions): IExecuteFunctions['customData'] {
	if (typeof context.customData?.set === 'function') return context.customData;
	const { customData } = context.getWorkflowDataProxy(0).$execution as typeof context;
	return customData;
}
