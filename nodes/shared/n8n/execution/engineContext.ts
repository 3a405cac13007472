import type { IExecuteFunctions, NodeTypeAndVersion } from 'n8n-workflow';

/** Parts of n8n's engine beyond the interface for nodes, which other versions of n8n may lack. */
export type EngineContext = IExecuteFunctions & {
	/** The data that n8n stores with the execution. */
	runExecutionData?: { waitTill?: Date };
	additionalData?: {
		/** Only the main process sends to the editor. A worker of queue mode has it in manual runs alone. */
		sendDataToUI?: unknown;
		/** They store a parked execution. The next engine, which n8n 2.40 contains, has none. */
		hooks?: unknown;
	};
};

/** Whether a worker of queue mode runs the execution. */
export const isWorker = ({ additionalData }: EngineContext): boolean =>
	additionalData !== undefined && additionalData.sendDataToUI === undefined;

/**
 * The nodes before or behind a node. Undefined where a connection leads to a node that the workflow does not have, as after
 * an import or a change by the API: n8n then throws.
 */
export function nodesAround(
	context: IExecuteFunctions,
	name: string,
	where: 'getParentNodes' | 'getChildNodes',
): NodeTypeAndVersion[] | undefined {
	try {
		return context[where](name, { includeNodeParameters: true });
	} catch {
		return undefined;
	}
}
