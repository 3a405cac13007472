import type { IDataObject } from 'n8n-workflow';
import { textMessage, type TextMessage } from '../../../shared/gateway/chat/message';
import { isHeaderName } from '../../../shared/gateway/client/http';
import { withoutUndefined, type JsonObject } from '../../../shared/gateway/json';
import { endpoints, versionHeader } from '../../../shared/gateway/protocol/endpoints';
import { finishReasons } from '../../../shared/gateway/protocol/resources';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { modelField } from '../../../shared/n8n/parameters/model';
import { extraBodyOption, simplifyField } from '../shared/fields';
import { messagesField, readMessages } from '../shared/messages';

interface Request {
	body: JsonObject;
	headers: Record<string, string>;
	simplify: boolean;
	timeout?: number;
}

const { name: standardName, value: standardVersion } = versionHeader;

/** "Endpoints" 5. */
export const messageCreate: Operation<Request, TextMessage> = {
	resource: { name: 'Message', value: 'message' },
	name: 'Create',
	value: 'create',
	action: 'Create a message',
	description: 'Let a model answer through its native messages endpoint',
	endpoint: endpoints.message,
	fields: [
		modelField(),
		messagesField(['assistant', 'system', 'user']),
		{
			displayName: 'Max Tokens',
			name: 'maxTokens',
			type: 'number',
			default: 1024,
			required: true,
			typeOptions: { minValue: 1 },
			description: 'The longest answer, in tokens',
		},
		{
			displayName: 'Version Header Name',
			name: 'versionHeaderName',
			type: 'string',
			default: standardName,
			required: true,
			description: "Name of the header with the endpoint's version, as your service documents it",
		},
		{
			displayName: 'Version Header Value',
			name: 'versionHeaderValue',
			type: 'string',
			default: standardVersion,
			required: true,
			description: 'The version, a date',
		},
		simplifyField,
	],
	options: [extraBodyOption],

	prepare(parameters) {
		const maxTokens = parameters.wholeNumber('maxTokens', 'Max Tokens', { min: 1 });
		const name = parameters.text('versionHeaderName', 'Version Header Name').trim();
		const value = parameters.text('versionHeaderValue', 'Version Header Value').trim();
		if (name !== '' && !isHeaderName(name)) {
			parameters.report('Version Header Name', 'must be the name of an HTTP header');
		}
		if (/[^\t\x20-\x7e]/.test(value)) {
			parameters.report('Version Header Value', `must be a date such as ${standardVersion}`);
		}
		return {
			body: {
				model: parameters.chosen('model', 'Model'),
				max_tokens: maxTokens,
				messages: readMessages(parameters).map(({ role, content }) => ({ role, content })),
				...parameters.optionalObject('extraBody', 'Extra Body (JSON)'),
			},
			headers: { [name]: value },
			simplify: parameters.boolean('simplify', 'Simplify', true),
			timeout: parameters.timeout,
		};
	},

	perform: async ({ body, headers, timeout }, { gateway }) =>
		await gateway.call({
			endpoint: endpoints.message,
			purpose: 'create the message',
			...{ body, headers, timeout },
			parse: textMessage,
		}),

	async deliver({ text, fields }, { simplify }, { hint, item }) {
		const { stop_reason, model, usage, request_id } = fields;
		// Its answer is not shown: this is how the endpoint of that kind says that Max Tokens cut it.
		if (stop_reason === 'max_tokens') {
			hint(`Item ${item}: the answer is not complete: ${finishReasons.length}.`);
		}
		const json = simplify
			? withoutUndefined({ text, stop_reason, model, usage, request_id })
			: fields;
		return [{ json: json as IDataObject }];
	},

	identity: ({ body, headers }) => ({ body, headers }),
};
