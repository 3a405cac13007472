import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';
import { listModels } from '../../gateway/models/list';
import { referenceVideoModels, videoModels } from '../../gateway/protocol/models';
import { createGateway } from '../client/gateway';
import { nodeError } from '../errors/nodeError';
import type { Field } from './field';
import { fieldOf, filledText } from './fieldKinds';
import type { ItemParameters, Place } from './itemParameters';

/** Models that an operation is known to work with, shown first and even if the service does not list them. */
const knownModels: Record<string, string[]> = {
	referenceVideo: Object.keys(referenceVideoModels),
	video: Object.keys(videoModels),
};

/** The model of an operation: from the list, or by id, so that a new one works on the day it appears. */
export function modelField(defaultModel = ''): Field<string, 'model'> {
	const field = fieldOf(
		'resourceLocator',
		{
			displayName: 'Model',
			name: 'model',
			request: 'model',
			default: { mode: 'list', value: defaultModel, cachedResultName: defaultModel },
			required: true,
			description:
				'The model to use. The list comes from your gateway; any ID can be given by hand.',
			modes: [
				{
					displayName: 'From List',
					name: 'list',
					type: 'list',
					typeOptions: { searchListMethod: 'searchModels', searchable: true },
				},
				{
					displayName: 'By ID',
					name: 'id',
					type: 'string',
					placeholder: 'e.g. beta-2.7-r2v',
				},
			],
		},
		(value, report) => filledText(value, report).trim(),
	);
	return { ...field, read: ({ parameters }) => field.read(chosenIn(parameters)) };
}

/** A locator has its value within. */
function chosenIn(parameters: ItemParameters): Place {
	const { context, item } = parameters;
	return {
		parameters,
		value: (name) => context.getNodeParameter(name, item, '', { extractValue: true }),
		report: (field, problem, kind) => parameters.report(field, problem, kind),
	};
}

/** Fills the list: models whose id has the filter in it. */
export async function searchModels(
	this: ILoadOptionsFunctions,
	filter = '',
): Promise<INodeListSearchResult> {
	try {
		const models = await listModels(await createGateway(this));
		const known = knownModels[String(this.getCurrentNodeParameter('resource'))] ?? [];
		const ids = [...new Set([...known, ...models.map(({ id }) => id).sort()])];
		const wanted = ids.filter((id) => id.toLowerCase().includes(filter.trim().toLowerCase()));
		return { results: wanted.map((id) => ({ name: id, value: id })) };
	} catch (error) {
		throw nodeError(this.getNode(), { error, others: [], jobs: [], jobsAreKept: false });
	}
}
