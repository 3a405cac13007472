import { endpoints, reasoningRefuses } from '../../nodes/shared/service/protocol/endpoints';
import { invalidParameter } from '../errors';
import { readFields, readObject } from '../fields';
import { chatModels, findModel, type ChatSeries } from '../models';
import { readMessages, type ChatMessage } from './messages';
import { readResponseFormat, type JsonFormat } from './responseFormat';
import type { Input, Tool } from './videoAgent';

/** A valid request to a chat model. */
export interface ChatOrder {
	model: string;
	series: ChatSeries;
	messages: ChatMessage[];
	choices: number;
	/** The limit of each choice. */
	maxTokens: number;
	/** The answer ends before the first of them. */
	stops: string[];
	/** The tools that the model may call. */
	tools: Tool[];
	/** Set when the answer must be JSON. */
	format?: JsonFormat;
	isStream: boolean;
}

const { fields } = endpoints.chat;
/** The specification does not show the minimum number of tokens and the maximum number of choices. */
const table = {
	...fields,
	max_tokens: { ...fields.max_tokens, min: 1 },
	n: { ...fields.n, min: 1, max: 10 },
} as const;

/** "Endpoints" 4: checks the body of a chat completion. */
export function readChatOrder(value: unknown): ChatOrder {
	const body = readObject(value, 'body');
	const { model, n, max_tokens: maxTokens = Infinity, ...rest } = readFields(table, body);
	const series = findModel(chatModels, model);
	const messages = readMessages(rest.messages);
	if (series === 'reasoning') refuseForReasoning(body, messages);
	return {
		model,
		series,
		messages,
		choices: n,
		maxTokens,
		stops: readStops(rest.stop),
		// The specification does not list these two fields, but clients send them.
		tools: readTools(body.tools),
		format: readResponseFormat(body.response_format, messages),
		isStream: rest.stream,
	};
}

/** "Endpoints" 4, model-specific rules: reasoning models refuse these fields even at their default values. */
export function refuseForReasoning(body: Record<string, unknown>, messages: ChatMessage[]): void {
	const refuse = (param: string, expected: string) =>
		invalidParameter(param, `${expected} for a model of the reasoning series`);

	const field = reasoningRefuses.fields.find((name) => (body[name] ?? null) !== null);
	if (field) throw refuse(field, 'left out');
	const roles: readonly string[] = reasoningRefuses.roles;
	const message = messages.findIndex(({ role }) => roles.includes(role));
	if (message >= 0) throw refuse(`messages[${message}].role`, `other than ${roles.join(', ')}`);
}

function readTools(tools: unknown): Tool[] {
	if (!Array.isArray(tools)) return [];
	return tools.map((tool, index) => {
		const param = `tools[${index}].function`;
		const { name, parameters = {} } = readObject(
			readObject(tool, `tools[${index}]`).function,
			param,
		);
		return { name: String(name), inputs: readInputs(parameters, `${param}.parameters`) };
	});
}

function readInputs(schema: unknown, param: string): Input[] {
	const { properties = {} } = readObject(schema, param);
	const named = Object.entries(readObject(properties, `${param}.properties`));
	return named.map(([name, value]) => {
		const at = `${param}.properties.${name}`;
		const { type } = readObject(value, at);
		return { name, ...(type === 'object' && { inputs: readInputs(value, at) }) };
	});
}

function readStops(stop: unknown): string[] {
	const stops: unknown[] = [stop ?? []].flat();
	if (stops.every((text) => typeof text === 'string' && text !== '')) return stops as string[];
	throw invalidParameter('stop', 'a text or an array of texts');
}
