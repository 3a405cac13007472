import type { IDataObject } from 'n8n-workflow';
import { textAt, withoutUndefined } from '../../service/json';
import { isTool } from '../agent/tool';
import { isSkippedOutput } from '../parameters/skippedOutput';
import type { RunState } from './runState';
import type { ItemOutput } from './work';

/**
 * The output of a request that was charged. With Retry On Fail, n8n runs the node again for an item with an `error`, and
 * later nodes take some fields for a sign that nothing was ordered. Values of the service with such a name become
 * `service_…`.
 */
export function withoutSigns(output: ItemOutput): ItemOutput {
	const { json } = output;
	const { error = null } = json;
	const isFailureForN8n = error !== null && error !== false;
	const names = [
		...(isFailureForN8n ? ['error'] : []),
		...(isSkippedOutput(json) ? ['ordered'] : []),
	];
	return names.length === 0 ? output : { ...output, json: prefixed(json, names, 'service') };
}

/** The output, with the fields and files of the input. */
export function withInput(
	output: ItemOutput,
	index: number,
	{ context, cost }: RunState,
): ItemOutput {
	if (isTool(context.getNode())) return output;
	// Some nodes give items without fields.
	const { json = {}, binary } = context.getInputData()[index];
	const fields = prefixed(cost === 'job' ? withoutJob(json) : json, signs, 'input');
	const files = { ...binary, ...output.binary };
	return {
		json: { ...fields, ...output.json },
		...(Object.keys(files).length > 0 && { binary: files }),
	};
}

/** True only of the earlier item: it failed, or nothing was ordered for it. */
const signs = ['error', 'ordered', 'order_key', 'preview', 'reason', 'would'];

/** Later nodes would take the job of an earlier create for that of this one. */
function withoutJob(json: IDataObject): IDataObject {
	const output = textAt(json, 'output.task_id') === undefined ? json.output : undefined;
	return withoutUndefined({ ...json, task_id: undefined, output });
}

/** The fields, with a prefix before these names. */
const prefixed = (json: IDataObject, names: string[], prefix: string): IDataObject =>
	Object.fromEntries(
		Object.entries(json).map(([name, value]) => [
			names.includes(name) ? `${prefix}_${name}` : name,
			value,
		]),
	);
