import type { INode, IWorkflowMetadata, WorkflowExecuteMode } from 'n8n-workflow';
import { planPass, type PassLength } from '../../../../nodes/ModelGatewayWaitForVideo/plan';
import type { EngineContext } from '../../../../nodes/shared/n8n/execution/engineContext';

describe('the plan of a pass', () => {
	const now = 1_000_000;
	const stay: PassLength = { name: 'stay' };
	const parkAtOnce: PassLength = { name: 'parkAtOnce' };
	const pollUntil = (time: number): PassLength => ({ name: 'pollUntil', time });

	const parkingEngine: object = { runExecutionData: {}, additionalData: { hooks: {} } };

	const planFor = (
		whileWaiting: string,
		mode: WorkflowExecuteMode,
		{ areJobsStored = false, saveExecutionProgress = false, engine = parkingEngine },
	) => {
		const context: Partial<EngineContext> = {
			getNode: () => ({ type: 'n8n-nodes-model-gateway.modelGatewayWaitForVideo' }) as INode,
			getWorkflow: () => ({ id: '1' }) as IWorkflowMetadata,
			getMode: () => mode,
			getWorkflowSettings: () => ({ saveExecutionProgress }),
			getNodeParameter: () => whileWaiting as never,
			getParentNodes: () => [],
			getChildNodes: () => [],
			getWorkflowDataProxy: () => ({ $: () => ({ isExecuted: true }) }) as never,
			...engine,
		};
		return planPass(context as EngineContext, areJobsStored, now);
	};

	it.each<[string, WorkflowExecuteMode, PassLength, PassLength]>([
		['park', 'trigger', parkAtOnce, pollUntil(now)],
		['park', 'manual', parkAtOnce, pollUntil(now)],
		['auto', 'trigger', parkAtOnce, pollUntil(now)],
		['auto', 'manual', pollUntil(now + 15_000), stay],
		['hold', 'trigger', parkAtOnce, stay],
		['hold', 'manual', pollUntil(now + 15_000), stay],
		['auto', 'integrated', stay, stay],
	])('gives a pass its length, before and after the jobs are stored: %s, %s', (...row) => {
		const [chosen, mode, before, after] = row;
		expect(planFor(chosen, mode, {}).length).toEqual(before);
		expect(planFor(chosen, mode, { areJobsStored: true }).length).toEqual(after);
	});
});
