import type { IDataObject } from 'n8n-workflow';
import { unstreamed } from '../../../shared/service/chat/answerStream';
import { completion, completionIn } from '../../../shared/service/chat/completion';
import { isHeaderName, isReservedHeader } from '../../../shared/service/client/http';
import { bodyFields } from '../../../shared/service/client/response';
import type { JsonObject } from '../../../shared/service/json';
import { textAmount } from '../../../shared/service/protocol/amount';
import { endpoints, versionHeader } from '../../../shared/service/protocol/endpoints';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import type { Field } from '../../../shared/n8n/parameters/field';
import { jsonField, requiredNumber, textField } from '../../../shared/n8n/parameters/fieldKinds';
import type { ItemParameters } from '../../../shared/n8n/parameters/itemParameters';
import { modelField } from '../../../shared/n8n/parameters/model';
import { deliverAnswers } from '../shared/answers';
import { simplifyField } from '../shared/fields';
import { messagesField } from '../shared/messages';

interface Request {
	body: JsonObject;
	headers: Record<string, string>;
	simplify: boolean;
}

const model = modelField();
const contentJson = jsonField('contentJson', 'Content (JSON)', {
	request: 'messages[].content',
	placeholder: 'e.g. [{ "type": "text", "text": "What is this?" }]',
	description:
		'What to send instead of Content, such as parts with images in the form that your service documents',
});
const messages = messagesField(['assistant', 'system', 'user'], { json: contentJson });
const maxTokens = requiredNumber('maxTokens', 'Max Tokens', {
	request: 'max_tokens',
	rule: { ...endpoints.message.fields.max_tokens, min: 1 },
	default: 1024,
	required: true,
	description: 'The maximum length of the answer, in tokens',
});
const versionName = textField('versionHeaderName', 'Version Header Name', {
	default: versionHeader.name,
	description:
		"Name of the header with the endpoint's version. The default is a guess: replace it with the name that your service documents.",
});
const versionValue = textField('versionHeaderValue', 'Version Header Value', {
	default: versionHeader.value,
	description:
		'The version, a date. The default is a guess: replace it with the date that your service documents.',
});

/** "Endpoints" 5. */
export const messageCreate: Operation<Request, { fields: JsonObject }> = {
	resource: { name: 'Message', value: 'message' },
	name: 'Create',
	value: 'create',
	action: 'Get answer from messages endpoint',
	description: 'Get an answer from a model through its native messages endpoint',
	endpoint: endpoints.message,
	fields: [model, messages, maxTokens, simplifyField],
	options: [versionName, versionValue],

	prepare(parameters) {
		const extra = new ExtraBody(parameters, 'stream');
		const headers = versionHeaderOf(parameters);
		const body = extra.body([model, maxTokens]);
		if (!extra.has('messages')) {
			body.messages = messages.read(parameters).map(({ role, content }) => ({ role, content }));
		}
		return { body, headers, simplify: simplifyField.read(parameters) };
	},

	perform: async ({ body, headers }, { gateway, sending }) =>
		await gateway.call({
			endpoint: endpoints.message,
			purpose: 'create the message',
			body,
			headers,
			...sending,
			async parse(response) {
				const whole = await unstreamed(response, gateway);
				// Throws if it is no answer.
				completion(whole);
				return { fields: bodyFields(whole) };
			},
		}),

	async deliver({ fields }, { simplify }, run) {
		const whole = completionIn(fields);
		const items = whole ? deliverAnswers(whole, run) : [];
		return simplify ? items : [{ json: fields as IDataObject }];
	},

	amount: ({ body }) => textAmount(body),

	identity: ({ body, headers }) => ({ body, headers }),
};

function versionHeaderOf(parameters: ItemParameters): Record<string, string> {
	const { options } = parameters;
	const name = versionName.read(options)?.trim() ?? versionHeader.name;
	const value = versionValue.read(options)?.trim() ?? versionHeader.value;
	const report = ({ property }: Field, problem: string) =>
		parameters.report(property.displayName, problem, 'unsendable');
	if (!isHeaderName(name)) report(versionName, 'must be the name of an HTTP header');
	else if (isReservedHeader(name)) {
		report(versionName, 'must not be a header that requests have already');
	}
	if (/[^\t\x20-\x7e]/.test(value)) {
		report(versionValue, `must be a date such as ${versionHeader.value}`);
	}
	return { [name]: value };
}
