import { completeChat } from '../shared/gateway/chat/complete';
import type { Gateway } from '../shared/gateway/client/gateway';
import { withoutUndefined, type JsonObject } from '../shared/gateway/json';
import type {
	AiNodeSdk,
	CallOptions,
	ChatModel,
	FunctionTool,
	GenerateResult,
	Message,
	StreamChunk,
} from './aiNodeSdk';
import { chunksOf } from './streamChunks';
import { toGenerateResult } from './generateResult';
import { toServiceMessages } from './messages';

/** What the user set. */
export interface ChatSettings {
	model: string;
	/** Further fields of the request. */
	fields: JsonObject;
	/** Milliseconds for one try. */
	timeout?: number;
	/** How many times a failed request is sent again at most. */
	retries?: number;
}

interface Surroundings {
	gateway: Gateway;
	/** The schema of a tool's input. */
	schemaOf: AiNodeSdk['getParametersJsonSchema'];
	/** What to throw instead of the gateway's error. */
	shown: (error: unknown) => Error;
}

/**
 * A chat model of the service for n8n's AI nodes. It has the members that the SDK asks for, rather than
 * extending a class of the SDK, which would have to be there when this file is loaded.
 */
export class GatewayChatModel implements ChatModel {
	readonly provider = 'model-gateway';
	readonly modelId: string;

	constructor(
		private readonly settings: ChatSettings,
		private readonly surroundings: Surroundings,
		private readonly tools: ReadonlyMap<string, FunctionTool> = new Map(),
	) {
		this.modelId = settings.model;
	}

	/** The same model with these tools besides. n8n binds the same ones twice where it demands a call. */
	withTools(tools: FunctionTool[]): GatewayChatModel {
		const named = tools.map((tool) => [tool.name, tool] as const);
		return new GatewayChatModel(
			this.settings,
			this.surroundings,
			new Map([...this.tools, ...named]),
		);
	}

	async generate(messages: Message[], options: CallOptions = {}): Promise<GenerateResult> {
		return await this.ask(messages, options);
	}

	/** Texts as they are written; a tool is called with an input that is whole. */
	async *stream(
		messages: Message[],
		options: CallOptions = {},
	): AsyncGenerator<StreamChunk, void, undefined> {
		let isLive = false;
		const answer = yield* chunksOf<StreamChunk, GenerateResult>(
			async (tell, left) =>
				await this.ask(messages, options, {
					left,
					onText(delta) {
						isLive = true;
						tell({ type: 'text-delta', delta });
					},
				}),
		);
		const { message, finishReason, usage } = answer;
		for (const content of message.content) {
			if (content.type === 'tool-call') {
				// LangChain joins the pieces of a call by their index, which the SDK makes 0 for each call,
				// and keeps apart those whose IDs differ: so each call is one piece, with its ID.
				const { toolCallId: id, toolName: name, input } = content;
				yield { type: 'tool-call-delta', id, name, argumentsDelta: input };
			} else if (!isLive) {
				yield { type: 'text-delta', delta: content.text };
			}
		}
		yield { type: 'finish', finishReason, usage };
	}

	/** @param live when the answer is to be received as it is written */
	private async ask(
		messages: Message[],
		options: CallOptions,
		live?: { onText: (delta: string) => void; left: AbortSignal },
	): Promise<GenerateResult> {
		const { settings, surroundings } = this;
		const { gateway, shown } = surroundings;
		try {
			const signals = [gateway.runtime.signal, options.signal, options.abortSignal, live?.left];
			const signal = AbortSignal.any(signals.filter((given) => given !== undefined));
			return await completeChat(gateway.withSignal(signal), {
				body: {
					model: settings.model,
					messages: toServiceMessages(messages),
					...settings.fields,
					...this.sentTools(options),
					...withoutUndefined({ stop: options.stop ?? options.stopSequences }),
					...(live && { stream: true }),
				},
				timeout: settings.timeout,
				retries: settings.retries,
				onText: live?.onText,
				parse: toGenerateResult,
			});
		} catch (error) {
			throw shown(error);
		}
	}

	/** The specification names tools without showing them: this is how the wire format has them. */
	private sentTools({ tool_choice: choice }: CallOptions): JsonObject {
		if (this.tools.size === 0) return {};
		const tools = [...this.tools.values()].map((tool) => ({
			type: 'function',
			function: withoutUndefined({
				name: tool.name,
				description: tool.description,
				parameters: this.surroundings.schemaOf(tool),
			}),
		}));
		return { tools, ...withoutUndefined({ tool_choice: sentChoice(choice) }) };
	}
}

/** LangChain says `any` for "at least one", and takes the name of a tool for that one. */
function sentChoice(choice: unknown): unknown {
	if (choice === 'any') return 'required';
	if (typeof choice !== 'string') return choice;
	const isMode = ['auto', 'none', 'required'].includes(choice);
	return isMode ? choice : { type: 'function', function: { name: choice } };
}
