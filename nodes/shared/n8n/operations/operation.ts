import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { NodeOperationError } from 'n8n-workflow';
import { asText } from '../../service/json';
import { runItems } from '../items/run';
import type { ItemWork } from '../items/work';
import type { Field } from '../parameters/field';
import { parallelOf, parallelRequestsOption } from '../parameters/options';

/** An operation: its entry in the node's menus, and what it does with each item. */
export type Operation<Request = unknown, Result extends object = object> = ItemWork<
	Request,
	Result
> & {
	resource: { name: string; value: string };
	name: string;
	value: string;
	/** In sentence case and without articles, with the input: "Create video from text". */
	action: string;
	description: string;
	fields: readonly Field[];
};

export async function runOperation(
	context: IExecuteFunctions,
	operations: Operation[],
): Promise<INodeExecutionData[][]> {
	const resource = context.getNodeParameter('resource', 0);
	const name = context.getNodeParameter('operation', 0);
	const operation = operations.find((one) => one.resource.value === resource && one.value === name);
	if (operation === undefined) {
		throw new NodeOperationError(
			context.getNode(),
			`There is no operation "${asText(resource)}: ${asText(name)}"`,
			{ description: 'Choose the resource and the operation again.' },
		);
	}
	return await runItems(context, operation, parallelOf(context, parallelRequestsOption));
}
