import type { IExecuteFunctions, INode, WorkflowExecuteMode } from 'n8n-workflow';

/** The context that n8n passes to a node that it executes. */
export interface Execution {
	items?: number;
	/** Aborted by Stop. */
	stop?: AbortSignal;
	mode?: WorkflowExecuteMode;
	id?: string;
	/** The node's name. Two nodes of the same name are the same node. */
	node?: string;
	/** Default: the type of the action node. */
	type?: string;
	/** A Retry has the same token as its first execution. */
	token?: string;
}

/** The part of n8n's context that the item loop uses, for events that a test cannot trigger in n8n's real engine. */
export function executeContext(execution: Execution = {}): IExecuteFunctions {
	const { items = 1, stop, mode = 'manual', id = '1' } = execution;
	const { node: name = 'Node', type = 'modelGateway', token = 'token' } = execution;
	const resumeUrl = `https://n8n.example/webhook-waiting/1?signature=${token}`;
	const memory: Record<string, object> = {};
	const node: INode = { id: name, name, type, typeVersion: 1, position: [0, 0], parameters: {} };
	const context = {
		getInputData: () => Array.from({ length: items }, () => ({ json: {} })),
		continueOnFail: () => false,
		getExecutionCancelSignal: () => stop,
		getCredentials: async () => ({ apiKey: 'sk-unit', baseUrl: 'http://127.0.0.1:9' }),
		getNodeParameter: (_name: string, _item: number, fallback: unknown) => fallback,
		evaluateExpression: (text: string) => (text.includes('resumeUrl') ? resumeUrl : 0),
		getContext: (type: string) => (memory[type] ??= {}),
		getNode: () => node,
		getMode: () => mode,
		getTimezone: () => 'UTC',
		getExecutionId: () => id,
		getWorkflow: () => ({ id: 'workflow' }),
		addExecutionHints: () => undefined,
		isToolExecution: () => false,
		logger: { info: () => undefined, warn: () => undefined },
		helpers: {},
	};
	return context as unknown as IExecuteFunctions;
}
