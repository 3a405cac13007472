import { asText, textAt } from '../../gateway/json';
import type { JobKind } from '../../gateway/protocol/jobs';
import { isTool } from '../agent/tool';
import type { ItemParameters } from './itemParameters';

/** The id of a job, from a parameter that usually reads it from the item; reported when there is none. */
export function jobIdOf(parameters: ItemParameters, name: string, field: string): string {
	const id = asText(parameters.value(name)) ?? '';
	if (id === '') {
		const { json } = parameters.context.getInputData()[parameters.item];
		const failure = asText(json.error);
		parameters.report(
			field,
			failure === undefined
				? 'is empty: this item carries no job. Lead the node that created the job here, or give its ID'
				: `is empty: this item carries an error instead of a job (${failure})`,
		);
	} else if (/^\.{1,2}$|\p{Cs}/u.test(id) || id.length > 500) {
		parameters.report(field, `is not the ID of a job (it is "${id.slice(0, 40)}")`);
	}
	return id;
}

/** Which kind of job the id seems to belong to, by the item it came from; undefined when that does not tell. */
export function jobKindOf(parameters: ItemParameters, id: string): JobKind | undefined {
	// What a model calls the id tells nothing.
	if (isTool(parameters.context.getNode())) return undefined;
	const { json } = parameters.context.getInputData()[parameters.item];
	if (textAt(json, 'output.task_id') === id || textAt(json, 'task_id') === id) return 'task';
	return textAt(json, 'id') === id ? 'video' : undefined;
}
