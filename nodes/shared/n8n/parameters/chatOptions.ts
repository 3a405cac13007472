import type { INodeProperties } from 'n8n-workflow';
import { withoutUndefined, type JsonObject } from '../../gateway/json';
import { endpoints } from '../../gateway/protocol/endpoints';
import type { ItemParameters } from './itemParameters';

const { fields } = endpoints.chat;
const maxTokens = { ...fields.max_tokens, min: 1 } as const;

/** A number of the request, limited as the service limits it. */
const numberOption = (
	option: Pick<INodeProperties, 'displayName' | 'name' | 'description'>,
	{ min, max, default: standard = 1 }: { min?: number; max?: number; default?: number },
): INodeProperties => ({
	...option,
	type: 'number',
	default: standard,
	typeOptions: { minValue: min, maxValue: max, numberPrecision: 2 },
});

/** How a chat model writes ("Endpoints" 4), wherever one is asked. */
export const chatOptions: INodeProperties[] = [
	numberOption(
		{
			displayName: 'Frequency Penalty',
			name: 'frequencyPenalty',
			description: 'Above 0 the model repeats words less often',
		},
		fields.frequency_penalty,
	),
	{
		displayName: 'Max Tokens',
		name: 'maxTokens',
		type: 'number',
		default: 1000,
		typeOptions: { minValue: 1 },
		description: 'The longest answer, in tokens',
	},
	numberOption(
		{
			displayName: 'Presence Penalty',
			name: 'presencePenalty',
			description: 'Above 0 the model comes to new topics sooner',
		},
		fields.presence_penalty,
	),
	numberOption(
		{
			displayName: 'Temperature',
			name: 'temperature',
			description: 'Low is factual, high is inventive. Reasoning models refuse it.',
		},
		fields.temperature,
	),
	numberOption(
		{
			displayName: 'Top P',
			name: 'topP',
			description: 'Share of likely words to choose from. Reasoning models refuse it.',
		},
		fields.top_p,
	),
];

/** The fields of the request that these options set; those that the user did not add are left out. */
export function chatOptionsOf(parameters: ItemParameters): JsonObject {
	return withoutUndefined({
		temperature: parameters.checkedNumber('temperature', 'Temperature', fields.temperature),
		max_tokens: parameters.checkedNumber('maxTokens', 'Max Tokens', maxTokens),
		top_p: parameters.checkedNumber('topP', 'Top P', fields.top_p),
		frequency_penalty: parameters.checkedNumber(
			'frequencyPenalty',
			'Frequency Penalty',
			fields.frequency_penalty,
		),
		presence_penalty: parameters.checkedNumber(
			'presencePenalty',
			'Presence Penalty',
			fields.presence_penalty,
		),
	});
}
