import type { INodeProperties, ISupplyDataFunctions } from 'n8n-workflow';
import { maxTries } from '../shared/gateway/client/retryPolicy';
import { endpoints } from '../shared/gateway/protocol/endpoints';
import { badInput } from '../shared/n8n/errors/badInput';
import { chatOptions } from '../shared/n8n/parameters/chatOptions';
import { bodyOf } from '../shared/n8n/parameters/field';
import { choiceField, numberField } from '../shared/n8n/parameters/fieldKinds';
import { ItemParameters } from '../shared/n8n/parameters/itemParameters';
import { modelField } from '../shared/n8n/parameters/model';
import { optionsProperty, timeoutOption, timeoutOptionOf } from '../shared/n8n/parameters/options';
import type { ChatSettings } from './chatModel';

const model = modelField();

/** Not in the specification; sent only when the user asks for it. */
const responseFormat = choiceField({
	displayName: 'Response Format',
	name: 'responseFormat',
	request: 'response_format.type',
	rule: { type: 'string', values: ['text', 'json_object'] },
	options: [
		{
			name: 'JSON Object',
			value: 'json_object',
			description: 'Ask for JSON in the prompt too',
		},
		{ name: 'Text', value: 'text' },
	],
	default: 'text',
	description: 'The format of the answer. Not every model supports it.',
});

const maxRetries = numberField({
	displayName: 'Max Retries',
	name: 'maxRetries',
	rule: { type: 'integer', min: 0, max: 20 },
	default: maxTries - 1,
	typeOptions: { numberPrecision: 0 },
	description:
		'How many times a failed request is sent again. Each wait is longer than the last, or as long as the service asks. A request whose answer had begun is not sent again.',
});

export const properties: INodeProperties[] = [
	{
		displayName:
			"Connect this node to the Chat Model input of an <a data-action='openSelectiveNodeCreator' data-action-parameter-connectiontype='ai_agent'>AI Agent</a> or a <a data-action='openSelectiveNodeCreator' data-action-parameter-connectiontype='ai_chain'>chain</a>",
		name: 'notice',
		type: 'notice',
		default: '',
	},
	model.property,
	optionsProperty([...chatOptions, responseFormat, maxRetries, timeoutOptionOf(endpoints.chat)]),
];

/** @throws GatewayError that names every parameter that cannot be used */
export function settingsOf(context: ISupplyDataFunctions, item: number): ChatSettings {
	const parameters = new ItemParameters(context, item);
	const { options, problems } = parameters;
	const format = bodyOf(options, [responseFormat]);
	const settings = {
		model: model.read(parameters),
		fields: { ...bodyOf(options, chatOptions), ...format },
		timeout: timeoutOption.read(options),
		retries: maxRetries.read(options),
	};
	if (problems.length > 0) throw badInput(problems);
	return settings;
}
