import { parkingObstacle } from '../../../../nodes/ModelGatewayWaitForVideo/parking';
import type { EngineContext } from '../../../../nodes/shared/n8n/execution/engineContext';
import type { INode, IWorkflowMetadata } from 'n8n-workflow';

it.each([
	[
		'parks in an engine that gives it the data of the execution',
		{ runExecutionData: {} },
		undefined,
	],
	['keeps running in an engine that does not', {}, 'this version of n8n cannot park it'],
])('%s', (_, engine, obstacle) => {
	const context: Partial<EngineContext> = {
		getNode: () => ({ type: 'n8n-nodes-model-gateway.modelGatewayWaitForVideo' }) as INode,
		getWorkflow: () => ({ id: '1' }) as IWorkflowMetadata,
		...engine,
	};
	expect(parkingObstacle(context as EngineContext)).toBe(obstacle);
});
