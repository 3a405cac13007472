import type { IDataObject } from 'n8n-workflow';
import { maxIdLength } from '../../service/jobs/jobIdentity';
import { stateIn } from '../../service/reader/jobState';
import { read } from '../../service/reader/values';
import { asText, textAt } from '../../service/json';
import { isPollState, type JobKind } from '../../service/protocol/jobs';
import { isTool } from '../agent/tool';
import { fieldOf, type Declaration, type Field } from './field';
import type { ItemParameters } from './itemParameters';
import { isSkippedOutput } from './skippedOutput';

/** The ID of a job, which must not be missing. @param from expression that finds it in the item of a Create */
export function jobIdField(
	name: string,
	from: string,
	description = 'Taken from the node that ordered the video, unless you give another one',
): Field<string> {
	const declaration: Declaration = {
		displayName: 'Job ID',
		name,
		description,
		isFilledInByModel: true,
		default: `=${from}`,
		required: true,
		builderHint: {
			propertyHint:
				'Leave out behind the node that created the job: the default finds the ID in its item',
		},
	};
	return fieldOf('string', declaration, (value, report, { parameters }) => {
		const id = asText(value) ?? '';
		const { json = {}, binary } = parameters.context.getInputData()[parameters.item];
		// An `id` in such an item is that of the row for which nothing was ordered.
		if (isSkippedOutput(json) && (id === '' || id === asText(json.id))) {
			parameters.passThrough = { json, binary };
			return '';
		}
		const ofTool = isTool(parameters.context.getNode());
		const problem = id !== '' ? idProblem(id) : ofTool ? missingInCall : missingIdProblem(json);
		if (problem !== undefined) report(problem, 'rule');
		return id;
	});
}

const missingInCall =
	'is empty: call this tool with the ID of the video that was ordered. That video goes on in any case';

function missingIdProblem({ error }: IDataObject): string {
	const failure = asText(error);
	return failure === undefined
		? 'is empty: this item carries no job. Connect the node that ordered the video, or give its ID'
		: `is empty: this item carries an error instead of a job (${failure})`;
}

function idProblem(id: string): string | undefined {
	const isPossible = !/^\.{1,2}$|\p{Cs}/u.test(id) && id.length <= maxIdLength;
	return isPossible ? undefined : `is not the ID of a job (it is "${id.slice(0, 40)}")`;
}

export interface JobKindHint {
	/** Set when the item certainly comes from a Create. */
	kind?: JobKind;
	/** Set when the item only has an `id`, and may be anything, such as a row of a table. */
	guess?: JobKind;
}

/** The kind of a job, as far as its input item shows it. */
export function jobKindOf(parameters: ItemParameters, id: string): JobKindHint {
	// In a tool, a model names the fields of the item, so they prove nothing.
	if (isTool(parameters.context.getNode())) return {};
	const { json } = parameters.context.getInputData()[parameters.item];
	if (textAt(json, 'output.task_id') === id || textAt(json, 'task_id') === id)
		return { kind: 'task' };
	if (textAt(json, 'id') !== id) return {};
	return isPollState(stateIn(read(json)) ?? '') ? { kind: 'video' } : { guess: 'video' };
}
