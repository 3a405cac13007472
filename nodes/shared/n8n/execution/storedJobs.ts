import type { IExecuteFunctions } from 'n8n-workflow';
import { isObject } from '../../gateway/json';

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
	get wereParkedByEarlierProcess(): boolean {
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
