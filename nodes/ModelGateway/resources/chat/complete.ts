import type { IDataObject } from 'n8n-workflow';
import { completeChat } from '../../../shared/service/chat/complete';
import type { Completion } from '../../../shared/service/chat/completion';
import { textToShow } from '../../../shared/service/chat/message';
import type { JsonObject } from '../../../shared/service/json';
import { textAmount } from '../../../shared/service/protocol/amount';
import { endpoints } from '../../../shared/service/protocol/endpoints';
import { messageRoles } from '../../../shared/service/protocol/chat';
import { LiveText } from '../../../shared/n8n/agent/liveText';
import type { ItemRun } from '../../../shared/n8n/items/work';
import type { Operation } from '../../../shared/n8n/operations/operation';
import { answersOption, chatOptions, userOption } from '../../../shared/n8n/parameters/chatOptions';
import { ExtraBody } from '../../../shared/n8n/parameters/extraBody';
import {
	booleanField,
	jsonListField,
	uncheckedText,
} from '../../../shared/n8n/parameters/fieldKinds';
import { modelField } from '../../../shared/n8n/parameters/model';
import { deliverAnswers } from '../shared/answers';
import { simplifyField } from '../shared/fields';
import { imagesField, messagesField, messagesToSend, type MessageInput } from '../shared/messages';

interface Request {
	/** Without messages, whose files are loaded only when they are sent, unless Extra Body gives them. */
	body: JsonObject;
	messages?: MessageInput[];
	simplify: boolean;
}

const shownFor = (role: string) => ({ show: { role: [role] } });

/** The specification names the roles of tool calls without their fields. These are those of the common wire format. */
const toolFields = [
	uncheckedText('toolCallId', 'Tool Call ID', {
		request: 'messages[].tool_call_id',
		displayOptions: shownFor('tool'),
		placeholder: 'e.g. {{ $json.tool_calls[0].id }}',
		description: 'The ID of the tool call that this message answers',
	}),
	uncheckedText('name', 'Function Name', {
		request: 'messages[].name',
		displayOptions: shownFor('function'),
		placeholder: 'e.g. {{ $json.function_call.name }}',
		description: 'The function whose result this message is',
	}),
	jsonListField('toolCalls', 'Tool Calls (JSON)', {
		request: 'messages[].tool_calls',
		displayOptions: shownFor('assistant'),
		placeholder: 'e.g. {{ $json.tool_calls }}',
		description:
			'The tool calls in an earlier answer of the model, when this message repeats that answer',
	}),
];

const model = modelField();
const messages = messagesField(messageRoles, {
	images: imagesField({ hasDetail: true, description: 'Images for models that understand them' }),
	more: toolFields,
});

/** In the order in which they are shown and checked. */
const options = [
	...chatOptions,
	booleanField('stream', 'Stream', {
		request: 'stream',
		default: true,
		description:
			'Whether to receive the answer as it is written; a chat or a streaming webhook shows it live',
	}),
	answersOption,
	userOption,
];

/** "Endpoints" 4. */
export const chatComplete: Operation<Request, Completion> = {
	resource: { name: 'Chat', value: 'chat' },
	name: 'Complete',
	value: 'complete',
	action: 'Get answer from chat model',
	description: 'Get an answer from a chat model. Some models also understand images.',
	endpoint: endpoints.chat,
	fields: [model, messages, simplifyField],
	options,

	prepare(parameters) {
		const extra = new ExtraBody(parameters);
		return {
			body: extra.body([model], options),
			messages: extra.has('messages') ? undefined : messages.read(parameters),
			simplify: simplifyField.read(parameters),
		};
	},

	async perform({ body, messages: given }, run) {
		const sent = given && (await messagesToSend(given, run));
		return await completeLive({ ...body, ...(sent && { messages: sent }) }, run);
	},

	async deliver(completion, { body, simplify }, run) {
		const items = deliverAnswers(completion, run, body.n);
		return simplify ? items : [{ json: completion as IDataObject }];
	},

	amount: ({ body }) => textAmount(body),

	identity: ({ body, messages: given }) => ({ body, messages: given }),
};

/** Completes a chat. In a streaming execution, it also passes the text on as it arrives. */
async function completeLive(
	body: JsonObject,
	{ gateway, context, item, sending }: ItemRun,
): Promise<Completion> {
	const live = new LiveText(context, item);
	const onText = async (added: string) => {
		if (body.stream === true) await live.add(added);
	};
	let isWhole = false;
	try {
		const completion = await completeChat(gateway, {
			body,
			...sending,
			onText,
			parse: (whole) => whole,
		});
		// A server that does not stream sends the text in one piece.
		if (!live.hasBegun) await onText(textToShow(completion.choices[0].message));
		isWhole = true;
		return completion;
	} finally {
		// When a node fails, n8n sends the end itself.
		if (isWhole || context.continueOnFail()) await live.end();
	}
}
