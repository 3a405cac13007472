import { asText, describeValue } from '../../service/json';
import type { Endpoint } from '../../service/protocol/endpoints';
import { fieldOf } from './field';

/** Each may be tried eight times, with longer and longer waits. */
const maxModels = 5;

/** Reads as the IDs, each once. It is a setting: the model is no part of what is ordered. */
export const ifModelRefusesOption = fieldOf(
	'string',
	{
		displayName: 'If the Model Refuses',
		name: 'ifModelRefuses',
		rank: 4,
		isSetting: true,
		placeholder: 'e.g. other-model-1, other-model-2',
		description:
			'Models to try in this order if one is unknown, not permitted or overloaded. Never after a refused prompt or a lost response.',
	},
	(value, report): string[] => {
		const entries: unknown[] = Array.isArray(value) ? value : [value];
		const ids = entries.flatMap((entry) => {
			if (typeof entry === 'object' && entry !== null)
				report(`must be IDs of models (it has ${describeValue(entry)})`);
			return (asText(entry) ?? '').split(/[,\n]/).map((id) => id.trim());
		});
		const models = [...new Set(ids.filter((id) => id !== ''))];
		if (models.length > maxModels) report(`must have at most ${maxModels} models`);
		return models;
	},
);

/** Vectors of different models cannot be compared, so what is sent in batches has one model. */
export const mayHaveOtherModels = (work: {
	endpoint: Pick<Endpoint, 'cost'>;
	batch?: object;
}): boolean => work.endpoint.cost !== 'read' && work.batch === undefined;
