import type { IDataObject, IRunExecutionData } from 'n8n-workflow';
import { Workflow } from 'n8n-workflow';
import { noInputHint } from '../../nodes/ModelGatewayWaitForVideo/hints';
import { nodeTypes } from '../harness';
import { asTool, chain, waitForVideo } from '../support/workflows';

describe('the hint that Execute step runs the nodes before Wait for Video', () => {
	/** Evaluates its condition as n8n's editor does. */
	const isShown = (input: IDataObject[], { isTool = false } = {}) => {
		const wait = waitForVideo();
		const { nodes, connections } = chain(isTool ? asTool(wait) : wait);
		const workflow = new Workflow({ nodes: nodes as never, connections, active: false, nodeTypes });
		const items = input.map((json) => ({ json }));
		const source = { startTime: 0, executionTime: 0, executionIndex: 0, source: [] };
		const runData = input.length > 0 ? { Start: [{ ...source, data: { main: [items] } }] } : {};
		return workflow.expression.getParameterValue(
			noInputHint.displayCondition as string,
			{ resultData: { runData } } as IRunExecutionData,
			...([0, 0, nodes.at(-1)?.name ?? '', items, 'manual', {}] as const),
		);
	};

	it('is shown while no item has come in', () => expect(isShown([])).toBe(true));
	it('is not shown once an item has come in', () =>
		expect(isShown([{ task_id: 'task_1' }])).toBe(false));
	it('is not shown for a tool of an agent', () =>
		expect(isShown([], { isTool: true })).toBe(false));
});
