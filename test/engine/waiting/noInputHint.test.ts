import type { IDataObject, IRunExecutionData } from 'n8n-workflow';
import { Workflow } from 'n8n-workflow';
import { noInputHint } from '../../../nodes/ModelGatewayWaitForVideo/hints';
import { nodeTypes } from '../../harness';
import { asTool, chain, waitForVideo } from '../../support/workflows/workflows';

describe('the hint of Wait for Video about missing input', () => {
	/** Evaluates the hint's condition as n8n's editor does. */
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

	it('shows the hint about missing input until an item arrives', () =>
		expect(isShown([])).toBe(true));
	it('hides the hint about missing input once an item has arrived', () =>
		expect(isShown([{ task_id: 'task_1' }])).toBe(false));
	it('hides the hint about missing input in a tool of an agent', () =>
		expect(isShown([], { isTool: true })).toBe(false));
});
