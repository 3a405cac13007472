import { completeChatWith } from '../shared/service/chat/complete';
import type { Completion } from '../shared/service/chat/completion';
import { anySignal } from '../shared/service/client/timeouts';
import type { Gateway } from '../shared/service/client/gateway';
import { valueAt, withoutUndefined, type JsonObject } from '../shared/service/json';
import type {
	AiNodeSdk,
	CallOptions,
	ChatModel,
	FunctionTool,
	GenerateResult,
	Message,
	StreamChunk,
} from './aiNodeSdk';
import { toGenerateResult } from './generateResult';
import { toServiceMessages } from './messages';
import { chunksOf } from './streamChunks';

export interface ChatSettings {
	model: string;
	/** IDs of the models to try, in this order, when one is refused. */
	otherModels?: readonly string[];
	/** The request without the messages and tools, which come from the node that uses the model. */
	fields: JsonObject;
	/** Milliseconds for one try. */
	timeout?: number;
	retries?: number;
}

interface Dependencies {
	gateway: Gateway;
	schemaOf: AiNodeSdk['getParametersJsonSchema'];
	toNodeError: (error: unknown) => Error;
}

/** A chat model for n8n's AI nodes. It extends no class of the SDK, because n8n must load this file without it. */
export class GatewayChatModel implements ChatModel {
	readonly provider = 'model-gateway';
	readonly modelId: string;

	constructor(
		private readonly settings: ChatSettings,
		private readonly dependencies: Dependencies,
		private readonly tools: ReadonlyMap<string, FunctionTool> = new Map(),
	) {
		this.modelId = settings.model;
	}

	/** The same model with more tools. n8n binds the same tools twice when it requires a call. */
	withTools(tools: FunctionTool[]): GatewayChatModel {
		const named = tools.map((tool) => [tool.name, tool] as const);
		return new GatewayChatModel(
			this.settings,
			this.dependencies,
			new Map([...this.tools, ...named]),
		);
	}

	async generate(messages: Message[], options: CallOptions = {}): Promise<GenerateResult> {
		return await this.complete(messages, options);
	}

	/** Yields texts as they are generated, and each tool call once its input is complete. */
	async *stream(
		messages: Message[],
		options: CallOptions = {},
	): AsyncGenerator<StreamChunk, void, undefined> {
		let isStreamed = false;
		const result = yield* chunksOf<StreamChunk, GenerateResult>(
			async (emit, abandoned) =>
				await this.complete(messages, options, {
					abandoned,
					onText(delta) {
						// After spaces alone, a refusal may follow, which is not streamed as text.
						isStreamed ||= delta.trim() !== '';
						emit({ type: 'text-delta', delta });
					},
				}),
		);
		const { message, finishReason, usage } = result;
		for (const content of message.content) {
			if (content.type === 'tool-call') {
				// LangChain merges the chunks of a call by their index, which the SDK sets to 0 for every call, unless their IDs
				// differ: so each call is sent as one chunk, with its ID.
				const { toolCallId: id, toolName: name, input } = content;
				yield { type: 'tool-call-delta', id, name, argumentsDelta: input };
			} else if (content.type === 'provider') {
				yield { type: 'content', content };
			} else if (!isStreamed) {
				yield { type: 'text-delta', delta: content.text };
			}
		}
		yield { type: 'finish', finishReason, usage };
	}

	/** @param streaming set to receive the response while it is generated */
	private async complete(
		messages: Message[],
		options: CallOptions,
		streaming?: { onText: (delta: string) => void; abandoned: AbortSignal },
	): Promise<GenerateResult> {
		const { settings, dependencies } = this;
		const { gateway, toNodeError } = dependencies;
		try {
			const { signal: called, abortSignal } = options;
			const signal = anySignal(gateway.runtime.signal, called, abortSignal, streaming?.abandoned);
			const call = {
				body: {
					model: settings.model,
					...settings.fields,
					messages: toServiceMessages(messages),
					...this.toolFields(options),
					...withoutUndefined({ stop: options.stop ?? options.stopSequences }),
					...(streaming && { stream: true }),
				},
				timeout: settings.timeout,
				retries: settings.retries,
				onText: streaming?.onText,
				parse: (whole: Completion) => toGenerateResult(whole, (tool) => this.needsArguments(tool)),
			};
			return await completeChatWith(gateway.with({ signal }), call, settings.otherModels);
		} catch (error) {
			throw toNodeError(error);
		}
	}

	/** Whether a tool refuses a call without arguments. */
	private needsArguments(name: string): boolean {
		const tool = this.tools.get(name);
		const required = tool && valueAt(this.dependencies.schemaOf(tool), 'required');
		return Array.isArray(required) && required.length > 0;
	}

	/** The specification mentions tools without their fields; these are those of the common wire format. */
	private toolFields({ tool_choice: choice }: CallOptions): JsonObject {
		if (this.tools.size === 0) return {};
		const tools = [...this.tools.values()].map((tool) => ({
			type: 'function',
			function: withoutUndefined({
				name: tool.name,
				description: tool.description,
				parameters: this.dependencies.schemaOf(tool),
			}),
		}));
		return { tools, ...withoutUndefined({ tool_choice: toServiceToolChoice(choice) }) };
	}
}

/** LangChain's `any` means "at least one tool". A text that is not a mode is the name of a tool. */
function toServiceToolChoice(choice: unknown): unknown {
	if (choice === 'any') return 'required';
	if (typeof choice !== 'string') return choice;
	const isMode = ['auto', 'none', 'required'].includes(choice);
	return isMode ? choice : { type: 'function', function: { name: choice } };
}
