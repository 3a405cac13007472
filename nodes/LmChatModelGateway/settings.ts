import type { INodeProperties, ISupplyDataFunctions } from 'n8n-workflow';
import { maxTries } from '../shared/gateway/client/retryPolicy';
import { badInput } from '../shared/n8n/errors/badInput';
import { withoutUndefined } from '../shared/gateway/json';
import { endpoints } from '../shared/gateway/protocol/endpoints';
import { fieldProblem } from '../shared/gateway/protocol/fields';
import { chatOptions, chatOptionsOf } from '../shared/n8n/parameters/chatOptions';
import { ItemParameters } from '../shared/n8n/parameters/itemParameters';
import { modelField } from '../shared/n8n/parameters/model';
import { optionsField, timeoutOption } from '../shared/n8n/parameters/options';
import type { ChatSettings } from './chatModel';

/** Not in the specification; sent only when the user asks for it. */
const responseFormats = ['text', 'json_object'] as const;
const defaultRetries = maxTries - 1;
const retries = { type: 'integer', min: 0, max: 20 } as const;

export const properties: INodeProperties[] = [
	{
		displayName:
			"Connect this node to the Chat Model input of an <a data-action='openSelectiveNodeCreator' data-action-parameter-connectiontype='ai_agent'>AI Agent</a> or a <a data-action='openSelectiveNodeCreator' data-action-parameter-connectiontype='ai_chain'>chain</a>",
		name: 'notice',
		type: 'notice',
		default: '',
	},
	modelField(),
	optionsField([
		...chatOptions,
		{
			displayName: 'Max Retries',
			name: 'maxRetries',
			type: 'number',
			default: defaultRetries,
			typeOptions: { minValue: retries.min, maxValue: retries.max, numberPrecision: 0 },
			description:
				'How many times a failed request is sent again. Each wait is longer than the last, or as long as the service asks. A request whose answer had begun is not sent again.',
		},
		{
			displayName: 'Response Format',
			name: 'responseFormat',
			type: 'options',
			options: [
				{
					name: 'JSON Object',
					value: 'json_object',
					description: 'Ask for JSON in the prompt too',
				},
				{ name: 'Text', value: 'text' },
			],
			default: 'text',
			description: 'What the answer is; not every model takes it',
		},
		timeoutOption(endpoints.chat),
	]),
];

/** @throws GatewayError that names every parameter that cannot be used */
export function settingsOf(context: ISupplyDataFunctions, item: number): ChatSettings {
	const parameters = new ItemParameters(context, item);
	const format = parameters.optionalText('responseFormat', 'Response Format');
	const problem = format && fieldProblem(format, { type: 'string', values: responseFormats });
	if (problem) parameters.report('Response Format', problem);
	const settings = {
		model: parameters.chosen('model', 'Model'),
		fields: {
			...chatOptionsOf(parameters),
			...withoutUndefined({ response_format: format && { type: format } }),
		},
		timeout: parameters.timeout,
		retries: parameters.checkedNumber('maxRetries', 'Max Retries', retries),
	};
	if (parameters.problems.length > 0) throw badInput(parameters.problems);
	return settings;
}
