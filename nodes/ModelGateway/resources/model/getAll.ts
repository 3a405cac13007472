import type { IDataObject } from 'n8n-workflow';
import { excerpt } from '../../../shared/service/json';
import { listModels } from '../../../shared/service/models/list';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { requiredNumber, switchField, textField } from '../../../shared/n8n/parameters/fieldKinds';
import { simplifyFieldOf } from '../shared/fields';

interface Request {
	/** Undefined: all. */
	limit?: number;
	filter: string;
	simplify: boolean;
}

const returnAll = switchField('returnAll', 'Return All', {
	default: false,
	description: 'Whether to return all results or only up to a given limit',
});
const limit = requiredNumber('limit', 'Limit', {
	rule: { type: 'integer', min: 1 },
	default: 50,
	displayOptions: { show: { returnAll: [false] } },
	description: 'Max number of results to return',
});
const filter = textField('filter', 'Filter', {
	placeholder: 'e.g. r2v',
	description: 'Only models with this text in their ID, ignoring case',
});

const simplify = simplifyFieldOf(
	'Whether to return only the fields of each model. When off, the other fields of the response are added where the model has none of that name.',
);

/** "Endpoints" 7. */
export const modelGetAll: Operation<Request> = {
	resource: { name: 'Model', value: 'model' },
	name: 'Get Many',
	value: 'getAll',
	action: 'Get many models',
	description: 'List the models of your gateway',
	endpoint: endpoints.models,
	fields: [returnAll, limit, filter, simplify],

	prepare: (parameters) => ({
		limit: returnAll.read(parameters) ? undefined : limit.read(parameters),
		filter: (filter.read(parameters) ?? '').trim().toLowerCase(),
		simplify: simplify.read(parameters),
	}),

	async perform({ limit: count, filter: search, simplify: isSimple }, { gateway, sending }) {
		const { models, fields } = await listModels(gateway, sending);
		const found = models.filter(({ id }) => id.toLowerCase().includes(search));
		// Without an output, a loop would end.
		if (found.length === 0) return [{ json: { count: 0, reason: reasonForNone(search) } }];
		const others = isSimple ? {} : fields;
		return found.slice(0, count).map((model) => ({ json: { ...others, ...model } as IDataObject }));
	},
};

const reasonForNone = (search: string): string =>
	search === ''
		? 'The gateway lists no models'
		: `No model has “${excerpt(search, 100)}” in its ID. Try a shorter filter`;
