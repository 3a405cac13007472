import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { JobSummary } from '../../gateway/errors/jobSummary';
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

/**
 * Whether n8n's database knows every job of the execution. A node that creates a job says so here, and Wait for Video
 * says when n8n stores the execution. All nodes of the execution share it.
 */
export class StoredJobs {
	private readonly state: State;

	constructor(context: IExecuteFunctions) {
		const flow = context.getContext('flow');
		if (!isObject(flow.modelGateway)) flow.modelGateway = {};
		this.state = flow.modelGateway as State;
	}

	/** A job was created: only the memory of this process has its ID. */
	jobCreated(): void {
		this.state.hasUnstoredJobs = true;
	}

	/** The execution is about to be parked, and is stored with all its jobs. */
	executionParked(): void {
		this.state.hasUnstoredJobs = false;
		this.state.parkedBy = performance.timeOrigin;
	}

	/** Whether the execution was parked, and no job was created since then. */
	get areAllStored(): boolean {
		return this.state.hasUnstoredJobs === false;
	}

	/** Whether n8n has restarted since it parked the execution. */
	get hasRestartedSinceParked(): boolean {
		const { parkedBy } = this.state;
		return parkedBy !== undefined && parkedBy !== performance.timeOrigin;
	}
}

interface State {
	/** Undefined while no job was created and nothing was parked. */
	hasUnstoredJobs?: boolean;
	/** When the n8n process that last parked the execution was started, in milliseconds since 1970. */
	parkedBy?: number;
}

/** Few, since n8n allows ten names in one execution, and they are the user's. */
const names = ['video_jobs', 'video_jobs_2', 'video_jobs_3'];

/** The longest value that n8n takes without a complaint in its log. */
const maxLength = 255;

/**
 * Adds the ID of a new job to what n8n calls the highlighted or custom data of an execution. n8n stores it even when
 * the execution is stopped, shows it in the execution, and can filter its list by it. What is there stays there, and
 * an ID for which there is no room is left out.
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
		// Some contexts have no such data; the output and the log name the job all the same.
	}
}

/** n8n 1 gives it to expressions only. */
function customDataOf(context: IExecuteFunctions): IExecuteFunctions['customData'] {
	if (typeof context.customData?.set === 'function') return context.customData;
	const { customData } = context.getWorkflowDataProxy(0).$execution as typeof context;
	return customData;
}
