import { isTextPart, textOf } from '../shared/service/chat/message';
import { isObject, type JsonObject } from '../shared/service/json';
import { contextInKwargs, toKwargs } from './toolContext';

interface LangChainMessage {
	content: unknown;
	additional_kwargs?: JsonObject;
}

interface Generation {
	message: LangChainMessage;
}

type Method<Result> = (messages: LangChainMessage[], options: object, run?: unknown) => Result;

/** The LangChain model that the SDK creates from a chat model. */
export interface LangChainModel {
	_generate: Method<Promise<{ generations: Generation[] }>>;
	_streamResponseChunks: Method<AsyncGenerator<Generation>>;
	bindTools(tools: unknown[], options?: object): LangChainModel;
	/** With n8n's log of each model call and its token usage. */
	callbacks?: unknown;
	metadata?: JsonObject;
}

/**
 * Corrects five defects of the LangChain model that the SDK creates (SDK 0.30):
 * - it drops images, because it does not know the blocks in which n8n's nodes put them;
 * - it returns text as a list of blocks, which n8n's auto-fixing output parsers turn into "[object Object]";
 * - it drops the options of `bindTools`, with which an agent requires a tool call;
 * - it drops what the service wants back with the results of tools, which n8n's agents keep in `additional_kwargs`;
 * - its log lacks the token usage of streamed responses, for which LangChain uses other field names.
 */
export function patchLangChainModel(model: LangChainModel, options: object = {}): LangChainModel {
	const generate = model._generate.bind(model);
	const stream = model._streamResponseChunks.bind(model);
	const bindTools = model.bindTools.bind(model);
	patchLog(model.callbacks);
	return Object.assign(model, {
		async _generate(messages, more, run) {
			const result = await generate(messages.map(toSdkMessage), { ...options, ...more }, run);
			for (const { message } of result.generations) toLangChain(message);
			return result;
		},
		async *_streamResponseChunks(messages, more, run) {
			const chunks = stream(messages.map(toSdkMessage), { ...options, ...more }, run);
			for await (const chunk of chunks) {
				toLangChain(chunk.message);
				yield chunk;
			}
		},
		// It creates a new model, which needs the same patches.
		bindTools(tools, more) {
			const bound = bindTools(tools, more);
			bound.metadata = model.metadata;
			return patchLangChainModel(bound, { ...options, ...more });
		},
	} satisfies Partial<LangChainModel>);
}

/** The message in the blocks that the SDK keeps: its images, and what is to be sent back. */
function toSdkMessage(message: LangChainMessage): LangChainMessage {
	const { content, additional_kwargs } = message;
	const context = contextInKwargs(additional_kwargs);
	const blocks: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }];
	if (!context && !(Array.isArray(content) && blocks.some(isImage))) return message;
	const copy: LangChainMessage = Object.create(
		Object.getPrototypeOf(message) as object,
		Object.getOwnPropertyDescriptors(message),
	);
	const given = blocks.map((block) => (isImage(block) ? toSdkImage(block) : block));
	copy.content = context ? [...given, { type: 'non_standard', value: context }] : given;
	return copy;
}

/** Joins text blocks into one text, as LangChain's own models return it. */
function toLangChain(message: LangChainMessage): void {
	const { content } = message;
	if (!Array.isArray(content)) return;
	const shown = content.filter((block) => !isOurs(block));
	const ours: unknown = content.find(isOurs);
	if (isObject(ours))
		message.additional_kwargs = { ...message.additional_kwargs, ...toKwargs(ours.value) };
	message.content = shown.every(isTextPart) ? textOf({ content: shown }) : shown;
}

const isOurs = (block: unknown) => isObject(block) && block.type === 'non_standard';

const isImage = (block: unknown): block is JsonObject =>
	isObject(block) && block.type === 'image_url';

function toSdkImage({ image_url: image }: JsonObject): JsonObject {
	const { url, detail } = isObject(image) ? image : { url: image };
	return { type: 'image', url, metadata: { detail } };
}

/** Lets n8n's log find the token usage of a streamed response under the names of an unstreamed response. */
function patchLog(callbacks: unknown): void {
	for (const handler of Array.isArray(callbacks) ? callbacks : []) {
		const options = isObject(handler) ? handler.options : undefined;
		if (!isObject(options) || typeof options.tokensUsageParser !== 'function') continue;
		const parse = options.tokensUsageParser as (result: unknown) => unknown;
		options.tokensUsageParser = (result: unknown) => parse(withStreamedUsage(result));
	}
}

function withStreamedUsage(result: unknown): unknown {
	const output = isObject(result) ? result.llmOutput : undefined;
	const usage = isObject(output) ? output.tokenUsage : undefined;
	if (!isObject(result) || !isObject(output) || !isObject(usage)) return result;
	const tokenUsage = {
		input_tokens: usage.promptTokens,
		output_tokens: usage.completionTokens,
		...usage,
	};
	return { ...result, llmOutput: { ...output, tokenUsage } };
}
