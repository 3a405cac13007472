import type { IDataObject, INodeProperties } from 'n8n-workflow';
import { statusIn } from '../../gateway/jobs/responses';
import { asText, textAt } from '../../gateway/json';
import { phaseOf, type JobKind } from '../../gateway/protocol/jobs';
import { isTool } from '../agent/tool';
import type { Field } from './field';
import type { ItemParameters } from './itemParameters';
import { isSkippedOutput } from './skippedOutput';

/** The id of a job, from a parameter that usually reads it from the item; reported when there is none. */
export function jobIdField({
	from,
	...texts
}: Pick<INodeProperties, 'displayName' | 'name' | 'description'> & {
	/** Expression that finds the id in the item of a create. */
	from: string;
}): Field<string> {
	return {
		property: {
			...texts,
			type: 'string',
			default: `=${from}`,
			required: true,
			builderHint: {
				propertyHint:
					'Leave out behind the node that created the job: the default finds the ID in its item',
			},
		},
		read(scope) {
			const id = asText(scope.value(texts.name)) ?? '';
			const { parameters } = scope;
			const { json, binary } = parameters.context.getInputData()[parameters.item];
			// Its own `id` is that of the row that was not ordered.
			if (isSkippedOutput(json) && (id === '' || id === asText(json.id))) {
				parameters.passThrough = { json, binary };
				return '';
			}
			const problem = id === '' ? missingIdProblem(json) : idProblem(id);
			if (problem !== undefined) scope.report(texts.displayName, problem);
			return id;
		},
	};
}

function missingIdProblem({ error }: IDataObject): string {
	const failure = asText(error);
	return failure === undefined
		? 'is empty: this item carries no job. Connect the node that ordered the video, or give its ID'
		: `is empty: this item carries an error instead of a job (${failure})`;
}

function idProblem(id: string): string | undefined {
	const isPossible = !/^\.{1,2}$|\p{Cs}/u.test(id) && id.length <= 500;
	return isPossible ? undefined : `is not the ID of a job (it is "${id.slice(0, 40)}")`;
}

/** What the item of a job tells of its kind. */
export interface JobKindHint {
	/** Where the item is surely that of a create. */
	kind?: JobKind;
	/** Where it may be anything that has an `id`, such as a row of a table. */
	guess?: JobKind;
}

/** Which kind of job the id belongs to, by the item it came from. */
export function jobKindOf(parameters: ItemParameters, id: string): JobKindHint {
	// What a model calls the id tells nothing.
	if (isTool(parameters.context.getNode())) return {};
	const { json } = parameters.context.getInputData()[parameters.item];
	if (textAt(json, 'output.task_id') === id || textAt(json, 'task_id') === id)
		return { kind: 'task' };
	if (textAt(json, 'id') !== id) return {};
	return phaseOf(statusIn(json) ?? '') === undefined ? { guess: 'video' } : { kind: 'video' };
}
