import { ExecuteContext } from 'n8n-core';
import {
	createRunExecutionData,
	type INodeExecutionData,
	type ITaskData,
	type WorkflowExecuteMode,
} from 'n8n-workflow';

import { applyEnvironment, createAdditionalData, type Environment } from './environment';
import { completeWorkflow, createWorkflow, type WorkflowJson } from './workflow';

interface StepOptions extends Environment {
	/** The output of the trigger. */
	input: INodeExecutionData[];
	mode: WorkflowExecuteMode;
}

/** The result of a node in the next engine. */
interface Step {
	items: INodeExecutionData[];
	hints: string[];
}

/**
 * Runs the nodes of a row as the engine does that n8n 2.40 contains and does not use by itself (`V1StepExecutor` of
 * `@n8n/node-engine-compatibility`). Each node is a step with a context of its own. Only its output is stored: nobody
 * reads what `putExecutionToWait` and `getContext` have stored.
 * @returns by the name of the node; the error of a node is thrown
 */
export async function runSteps(
	json: WorkflowJson,
	{ input, mode, ...environment }: StepOptions,
): Promise<Map<string, Step>> {
	await applyEnvironment(environment);
	const workflow = createWorkflow(
		completeWorkflow(json, Object.keys(environment.credentials ?? {})),
	);
	const [trigger, ...row] = Object.values(workflow.nodes);
	const steps = new Map<string, Step>([[trigger.name, { items: input, hints: [] }]]);
	let previous = trigger.name;
	for (const node of row) {
		const items = steps.get(previous)?.items ?? [];
		const source = [{ previousNode: previous }];
		const runData = Object.fromEntries([...steps].map(([name, step]) => [name, [taskOf(step)]]));
		const context = new ExecuteContext(
			workflow,
			node,
			// It has no lifecycle hooks: those belong to the engine that stores whole executions.
			{ ...createAdditionalData(environment), executionId: 'next', workflowId: workflow.id },
			mode,
			createRunExecutionData({ startData: {}, resultData: { runData } }),
			0,
			items,
			{ main: [items] },
			{ node, data: { main: [items] }, source: { main: source } },
			[],
		);
		const { execute } = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
		const output = (await execute?.call(context)) as INodeExecutionData[][];
		const hints = context.hints.map(({ message }) => message);
		steps.set(node.name, { items: output[0], hints });
		previous = node.name;
	}
	return steps;
}

const taskOf = ({ items }: Step): ITaskData => ({
	startTime: 0,
	executionTime: 0,
	executionIndex: 0,
	source: [],
	data: { main: [items] },
});

/**
 * Gives the nodes something else than `putExecutionToWait`.
 * @returns a function that takes it back
 */
export function replaceParking(replacement: unknown): () => void {
	const { prototype } = ExecuteContext;
	Object.defineProperty(prototype, 'putExecutionToWait', {
		value: replacement,
		configurable: true,
		writable: true,
	});
	// The engine's own is in the class that it extends.
	return () => Reflect.deleteProperty(prototype, 'putExecutionToWait');
}
