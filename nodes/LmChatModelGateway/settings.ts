import type { INodeProperties, ISupplyDataFunctions } from 'n8n-workflow';
import { maxTries } from '../shared/service/errors/verdict';
import { withoutUndefined, type JsonObject } from '../shared/service/json';
import { endpoints } from '../shared/service/protocol/endpoints';
import { badInput } from '../shared/n8n/errors/badInput';
import { chatOptions, userOption } from '../shared/n8n/parameters/chatOptions';
import { ExtraBody, extraBodyOption } from '../shared/n8n/parameters/extraBody';
import { choiceField, numberField, objectField } from '../shared/n8n/parameters/fieldKinds';
import { ItemParameters, type Scope } from '../shared/n8n/parameters/itemParameters';
import { modelField } from '../shared/n8n/parameters/model';
import { ifModelRefusesOption } from '../shared/n8n/parameters/otherModels';
import { connectionNotice, creatorLink } from '../shared/n8n/parameters/editor';
import { optionsProperty, timeoutOption, timeoutOptionOf } from '../shared/n8n/parameters/options';
import type { ChatSettings } from './chatModel';

const model = modelField();

/** Not in the specification; sent only when the user sets it. */
const responseFormat = choiceField('responseFormat', 'Response Format', {
	request: 'response_format.type',
	rule: { type: 'string', values: ['text', 'json_object', 'json_schema'] },
	options: [
		{ name: 'JSON Object', value: 'json_object', description: 'Ask for JSON in the prompt, too' },
		{ name: 'JSON Schema', value: 'json_schema', description: 'Add the option JSON Schema, too' },
		{ name: 'Text', value: 'text' },
	],
	default: 'text',
	description: 'The format of the answer. Not every model supports it.',
});

const jsonSchema = objectField('jsonSchema', 'JSON Schema', {
	request: 'response_format.json_schema',
	default: '{ "type": "object", "properties": {} }',
	typeOptions: { rows: 4 },
	description:
		'The schema of the answer, for the Response Format JSON Schema. It may be wrapped with a name, as in { "name": …, "strict": true, "schema": … }.',
});

const maxRetries = numberField('maxRetries', 'Max Retries', {
	rule: { type: 'integer', min: 0, max: 20 },
	default: maxTries - 1,
	typeOptions: { numberPrecision: 0 },
	description:
		'How many times a failed request is sent again, after longer and longer waits. Once its response has begun, it is not sent again.',
});

export const properties: INodeProperties[] = [
	connectionNotice(
		`Connect this node to the Chat Model input of an ${creatorLink('ai_agent', 'AI Agent')} or a ${creatorLink('ai_chain', 'chain')}`,
	),
	model.property,
	optionsProperty([
		...chatOptions,
		responseFormat,
		jsonSchema,
		userOption,
		extraBodyOption,
		ifModelRefusesOption,
		maxRetries,
		timeoutOptionOf(endpoints.chat),
	]),
];

/** @throws GatewayError that names every parameter that cannot be used */
export function settingsOf(context: ISupplyDataFunctions, item: number): ChatSettings {
	const parameters = new ItemParameters(context, item);
	const { options, problems } = parameters;
	const extra = new ExtraBody(parameters);
	const otherModels = ifModelRefusesOption.read(options);
	const settings = {
		...(otherModels.length > 0 && { otherModels }),
		model: model.read(parameters),
		fields: extra.body([], [...chatOptions, userOption], formatOf(options, extra)),
		timeout: timeoutOption.read(options),
		retries: maxRetries.read(options),
	};
	if (problems.length > 0) throw badInput(problems);
	return settings;
}

function formatOf(options: Scope, extra: ExtraBody): JsonObject {
	if (extra.has('response_format.type')) return {};
	const type = responseFormat.read(options);
	if (type !== 'json_schema') return withoutUndefined({ response_format: type && { type } });
	const schema = jsonSchema.read(options);
	if (schema === undefined) {
		if (!extra.has('response_format.json_schema')) {
			options.report(jsonSchema.property.displayName, 'is missing: add it under Options');
		}
		return { response_format: { type } };
	}
	const json_schema = 'schema' in schema ? schema : { schema };
	return { response_format: { type, json_schema: { name: 'answer', ...json_schema } } };
}
