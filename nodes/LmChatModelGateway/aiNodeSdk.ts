import type { ISupplyDataFunctions } from 'n8n-workflow';
import { GatewayError } from '../shared/service/errors/gatewayError';
import { excerpt, type JsonObject } from '../shared/service/json';
import type { TokenUsage } from '../shared/n8n/agent/tokenUsage';

// The part of @n8n/ai-node-sdk that is used here. n8n provides it; it is not installed for development.

export type MessageContent =
	| { type: 'text'; text: string }
	| {
			type: 'file';
			mediaType?: string;
			/** Bytes or base64; undefined when the metadata has a `url`. */
			data?: string | Uint8Array;
			providerMetadata?: JsonObject;
	  }
	/** The input is JSON. */
	| { type: 'tool-call'; toolCallId?: string; toolName: string; input: string }
	| { type: 'tool-result'; toolCallId: string; result: unknown }
	/** Anything that only this model understands. */
	| { type: 'provider'; value: JsonObject }
	/** Kinds of content for which the service has no field. */
	| { type: 'reasoning' | 'invalid-tool-call' | 'citation' };

export type ContentOf<Kind extends string> = Extract<MessageContent, { type: Kind }>;

export interface Message {
	role: 'system' | 'user' | 'assistant' | 'tool';
	content: MessageContent[];
}

export interface FunctionTool {
	name: string;
	description?: string;
	/** A JSON schema, or a zod schema, which `getParametersJsonSchema` converts. */
	inputSchema: unknown;
}

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'other';

export interface GenerateResult {
	id?: string;
	finishReason: FinishReason;
	usage?: TokenUsage;
	message: { role: 'assistant'; content: Array<ContentOf<'text' | 'tool-call' | 'provider'>> };
	/** Becomes LangChain's `response_metadata`. */
	providerMetadata: JsonObject;
}

export type StreamChunk =
	| { type: 'text-delta'; delta: string }
	| { type: 'tool-call-delta'; id?: string; name: string; argumentsDelta: string }
	| { type: 'content'; content: ContentOf<'provider'> }
	| { type: 'finish'; finishReason: FinishReason; usage?: TokenUsage };

/** From LangChain. The SDK has other names for some of them. */
export interface CallOptions {
	signal?: AbortSignal;
	abortSignal?: AbortSignal;
	stop?: string[];
	stopSequences?: string[];
	tool_choice?: unknown;
}

export interface ChatModel {
	provider: string;
	modelId: string;
	generate(messages: Message[], options?: CallOptions): Promise<GenerateResult>;
	stream(messages: Message[], options?: CallOptions): AsyncIterable<StreamChunk>;
	withTools(tools: FunctionTool[]): ChatModel;
}

export interface AiNodeSdk {
	supplyModel(context: ISupplyDataFunctions, model: ChatModel): { response: unknown };
	getParametersJsonSchema(tool: FunctionTool): unknown;
}

/** The `require` that Node.js gives to every CommonJS module. */
declare const require: (name: string) => unknown;

/**
 * Loads the SDK only when a chat model is used: n8n loads all nodes of a package at once, and a missing SDK would make
 * all of them fail. n8n provides the SDK through NODE_PATH, which `require` heeds and a native import ignores.
 * @throws GatewayError when n8n does not provide it
 */
export function aiNodeSdk(): AiNodeSdk {
	try {
		return require('@n8n/ai-node-sdk') as AiNodeSdk;
	} catch (error) {
		throw notProvided(error);
	}
}

function notProvided(error: unknown): GatewayError {
	// The other lines are paths of n8n's machine.
	const [firstLine] = (error instanceof Error ? error.message : String(error)).split('\n');
	return new GatewayError({
		message: 'This version of n8n cannot use chat models of community nodes',
		advice: `Update n8n: it has to provide @n8n/ai-node-sdk (${excerpt(firstLine, 120)}). Until then, use Chat: Complete of the Model Gateway node. Nothing was sent.`,
	});
}
