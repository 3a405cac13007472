import { isObject, type JsonObject } from '../shared/gateway/json';

/** A message of LangChain, as n8n's AI nodes write it. */
interface LangChainMessage {
	content: unknown;
}

interface Generation {
	message: LangChainMessage;
}

type Ask<Answer> = (messages: LangChainMessage[], options: object, run?: unknown) => Answer;

/** What the SDK makes of a chat model for LangChain, in the members that matter here. */
export interface LangChainModel {
	_generate: Ask<Promise<{ generations: Generation[] }>>;
	_streamResponseChunks: Ask<AsyncGenerator<Generation>>;
	bindTools(tools: unknown[], options?: object): LangChainModel;
	/** Among them n8n's log of what a model was asked and what it took. */
	callbacks?: unknown;
	metadata?: JsonObject;
}

/**
 * Mends, in the LangChain model that the SDK makes, what n8n's users would miss (SDK 0.30):
 * - it drops pictures, because it does not know the blocks in which n8n's nodes put them;
 * - it gives the text of an answer in blocks, of which n8n's parsers that fix an answer make "[object Object]";
 * - it drops the options of `bindTools`, by which an agent demands that a tool is called;
 * - its log does not see the tokens of a streamed answer, because LangChain words them otherwise there.
 */
export function patchLangChainModel(model: LangChainModel, options: object = {}): LangChainModel {
	const generate = model._generate.bind(model);
	const stream = model._streamResponseChunks.bind(model);
	const bindTools = model.bindTools.bind(model);
	mendLog(model.callbacks);
	return Object.assign(model, {
		async _generate(messages, more, run) {
			const answer = await generate(messages.map(withKeptPictures), { ...options, ...more }, run);
			for (const { message } of answer.generations) makePlain(message);
			return answer;
		},
		async *_streamResponseChunks(messages, more, run) {
			const chunks = stream(messages.map(withKeptPictures), { ...options, ...more }, run);
			for await (const chunk of chunks) {
				makePlain(chunk.message);
				yield chunk;
			}
		},
		// It makes a new model, which has to be mended too.
		bindTools(tools, more) {
			const bound = bindTools(tools, more);
			bound.metadata = model.metadata;
			return patchLangChainModel(bound, { ...options, ...more });
		},
	} satisfies Partial<LangChainModel>);
}

/** `image_url` blocks turned into those that the SDK keeps. The message itself stays: it is n8n's. */
function withKeptPictures(message: LangChainMessage): LangChainMessage {
	const { content } = message;
	if (!Array.isArray(content) || !content.some(isPicture)) return message;
	const copy: LangChainMessage = Object.create(
		Object.getPrototypeOf(message) as object,
		Object.getOwnPropertyDescriptors(message),
	);
	copy.content = content.map((block: unknown) => (isPicture(block) ? keptPicture(block) : block));
	return copy;
}

/** Blocks of nothing but text made one text, as LangChain's own models have it. */
function makePlain(message: LangChainMessage): void {
	const { content } = message;
	if (!Array.isArray(content)) return;
	const texts = content.map((block: unknown) => textIn(block));
	if (texts.every((text) => text !== undefined)) message.content = texts.join('');
}

function textIn(block: unknown): string | undefined {
	const isText = isObject(block) && block.type === 'text' && typeof block.text === 'string';
	return isText ? (block.text as string) : undefined;
}

const isPicture = (block: unknown): block is JsonObject =>
	isObject(block) && block.type === 'image_url';

function keptPicture({ image_url: image }: JsonObject): JsonObject {
	const { url, detail } = isObject(image) ? image : { url: image };
	return { type: 'image', url, metadata: { detail } };
}

/** Lets the log's reader of tokens find those of a stream where it finds those of a whole answer. */
function mendLog(callbacks: unknown): void {
	for (const handler of Array.isArray(callbacks) ? callbacks : []) {
		const options = isObject(handler) ? handler.options : undefined;
		if (!isObject(options) || typeof options.tokensUsageParser !== 'function') continue;
		const parse = options.tokensUsageParser as (result: unknown) => unknown;
		options.tokensUsageParser = (result: unknown) => parse(withUsageAsWhole(result));
	}
}

function withUsageAsWhole(result: unknown): unknown {
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
