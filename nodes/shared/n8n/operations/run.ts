import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { asText } from '../../gateway/json';
import { runItems } from '../items/run';
import { parallelOf, parallelRequestsOption } from '../parameters/options';
import type { Operation } from './operation';

/** Runs the operation that is chosen in the node's menus. */
export async function runOperation(
	context: IExecuteFunctions,
	operations: Operation[],
): Promise<INodeExecutionData[][]> {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = operations.find(
		({ resource: { value }, value: own }) => value === resource && own === name,
	);
	if (operation === undefined) {
		throw new NodeOperationError(
			context.getNode(),
			`There is no operation "${asText(resource)}: ${asText(name)}"`,
			{
				description: 'Choose the resource and the operation again.',
			},
		);
	}
	return await runItems(context, operation, parallelOf(context, parallelRequestsOption));
}
