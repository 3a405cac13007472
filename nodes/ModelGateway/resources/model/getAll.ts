import type { IDataObject } from 'n8n-workflow';
import { listModels } from '../../../shared/gateway/models/list';
import { endpoints } from '../../../shared/gateway/protocol/endpoints';
import type { Operation } from '../../../shared/n8n/operations/operation';

interface Request {
	/** Undefined: all. */
	limit?: number;
	filter: string;
	timeout?: number;
}

/** "Endpoints" 7. */
export const modelGetAll: Operation<Request> = {
	resource: { name: 'Model', value: 'model' },
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many models',
	description: 'List the models that your key can use',
	endpoint: endpoints.models,
	fields: [
		{
			displayName: 'Return All',
			name: 'returnAll',
			type: 'boolean',
			default: false,
			description: 'Whether to return all results or only up to a given limit',
		},
		{
			displayName: 'Limit',
			name: 'limit',
			type: 'number',
			default: 50,
			typeOptions: { minValue: 1 },
			displayOptions: { show: { returnAll: [false] } },
			description: 'Max number of results to return',
		},
		{
			displayName: 'Filter',
			name: 'filter',
			type: 'string',
			default: '',
			placeholder: 'e.g. r2v',
			description: 'Only models with this text in their ID; upper and lower case are the same',
		},
	],

	prepare(parameters) {
		const isAll = parameters.boolean('returnAll', 'Return All', false);
		return {
			limit: isAll ? undefined : parameters.wholeNumber('limit', 'Limit', { min: 1 }),
			filter: (parameters.asText(parameters.value('filter'), 'Filter') ?? '').trim().toLowerCase(),
			timeout: parameters.timeout,
		};
	},

	async perform({ limit, filter, timeout }, { gateway }) {
		const models = await listModels(gateway, { timeout });
		const found = models.filter(({ id }) => id.toLowerCase().includes(filter));
		return found.slice(0, limit).map((model) => ({ json: model as IDataObject }));
	},
};
