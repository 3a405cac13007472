import type { IDataObject } from 'n8n-workflow';
import { textMessage, type TextMessage } from '../../../shared/gateway/chat/message';
import { isHeaderName } from '../../../shared/gateway/client/http';
import { withoutUndefined, type JsonObject } from '../../../shared/gateway/json';
import { endpoints, versionHeader } from '../../../shared/gateway/protocol/endpoints';
import { finishReasons } from '../../../shared/gateway/protocol/resources';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import { requiredNumber, requiredText } from '../../../shared/n8n/parameters/fieldKinds';
import type { Place } from '../../../shared/n8n/parameters/itemParameters';
import { modelField } from '../../../shared/n8n/parameters/model';
import { timeoutOption } from '../../../shared/n8n/parameters/options';
import { simplifyField } from '../shared/fields';
import { remarkOnAnswers } from '../shared/finishReasons';
import { messagesField } from '../shared/messages';

interface Request {
	body: JsonObject;
	headers: Record<string, string>;
	simplify: boolean;
	timeout?: number;
}

const model = modelField();
const messages = messagesField(['assistant', 'system', 'user']);
const maxTokens = requiredNumber({
	displayName: 'Max Tokens',
	name: 'maxTokens',
	request: 'max_tokens',
	rule: { ...endpoints.message.fields.max_tokens, min: 1 },
	default: 1024,
	required: true,
	description: 'The maximum length of the answer, in tokens',
});
const versionName = requiredText({
	displayName: 'Version Header Name',
	name: 'versionHeaderName',
	default: versionHeader.name,
	required: true,
	description: "Name of the header with the endpoint's version, as your service documents it",
});
const versionValue = requiredText({
	displayName: 'Version Header Value',
	name: 'versionHeaderValue',
	default: versionHeader.value,
	required: true,
	description: 'The version, a date',
});

/** "Endpoints" 5. */
export const messageCreate: Operation<Request, TextMessage> = {
	resource: { name: 'Message', value: 'message' },
	name: 'Create',
	value: 'create',
	action: 'Create a message',
	description: 'Get an answer from a model through its native messages endpoint',
	endpoint: endpoints.message,
	fields: [model, messages, maxTokens, versionName, versionValue, simplifyField],

	prepare(parameters) {
		const extra = new ExtraBody(parameters.options, ['stream']);
		const headers = versionHeaderOf(parameters);
		return {
			body: extra.addTo({
				...extra.rest(parameters, [model, maxTokens]),
				...(!extra.gives('messages') && { messages: messagesOf(parameters) }),
			}),
			headers,
			simplify: simplifyField.read(parameters),
			timeout: timeoutOption.read(parameters.options),
		};
	},

	perform: async ({ body, headers, timeout }, { gateway }) =>
		await gateway.call({
			endpoint: endpoints.message,
			purpose: 'create the message',
			...{ body, headers, timeout },
			parse: textMessage,
		}),

	async deliver({ text, beside, finish_reason, fields }, { simplify }, run) {
		const { stop_reason, model: used, usage, request_id } = fields;
		remarkOnAnswers(run, [finish_reason]);
		// Its answer is not shown: this is how the endpoint of that kind says that Max Tokens cut it.
		if (stop_reason === 'max_tokens') {
			run.hint(`Item ${run.item}: the answer is not complete: ${finishReasons.length}.`);
		}
		const common = { finish_reason, stop_reason, model: used, usage, request_id };
		const json = simplify ? withoutUndefined({ text, ...common, ...beside }) : fields;
		return [{ json: json as IDataObject }];
	},

	identity: ({ body, headers }) => ({ body, headers }),
};

const messagesOf = (place: Place): JsonObject[] =>
	messages.read(place).map(({ role, content }) => ({ role, content }));

function versionHeaderOf(parameters: Place): Record<string, string> {
	const name = versionName.read(parameters).trim();
	const value = versionValue.read(parameters).trim();
	if (name !== '' && !isHeaderName(name)) {
		parameters.report(versionName.property.displayName, 'must be the name of an HTTP header');
	}
	if (/[^\t\x20-\x7e]/.test(value)) {
		parameters.report(
			versionValue.property.displayName,
			`must be a date such as ${versionHeader.value}`,
		);
	}
	return { [name]: value };
}
