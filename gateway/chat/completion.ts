import { imageTokens, tokensOf } from '../tokens';
import type { ChatMessage } from './messages';
import type { Reply, ToolCall } from './reply';

/** A completion, whole or to be streamed. */
export interface Completion {
	id: string;
	/** Seconds since 1970. */
	created: number;
	model: string;
	replies: Reply[];
	usage: Usage;
}

export interface Usage {
	prompt_tokens: number;
	completion_tokens: number;
	total_tokens: number;
}

/** Counts the tokens (see `tokens.ts`) of the texts, the images, and the tool calls with their arguments. */
export function usageOf(messages: ChatMessage[], replies: Reply[]): Usage {
	const promptTokens = messages.flatMap(({ text, pictures }) => [
		tokensOf(text).length,
		pictures.length * imageTokens,
	]);
	const completionTokens = replies.flatMap(({ text, toolCalls }) => [
		tokensOf(text).length,
		...toolCalls.map((call) => tokensOf(`${call.name} ${call.arguments}`).length),
	]);
	const prompt_tokens = sum(promptTokens);
	const completion_tokens = sum(completionTokens);
	return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

const sum = (counts: number[]): number => counts.reduce((total, tokens) => total + tokens, 0);

/** "Resources", chat completion. */
export function wordCompletion({ id, created, model, replies, usage }: Completion): unknown {
	const choices = replies.map(({ text, toolCalls, finishReason }, index) => {
		const message =
			toolCalls.length > 0
				? { role: 'assistant', content: text || null, tool_calls: toolCalls.map(wordCall) }
				: { role: 'assistant', content: text };
		return { index, message, finish_reason: finishReason };
	});
	return { id, object: 'chat.completion', created, model, choices, usage };
}

/** The specification names tool calls and does not show them. This is their form in the wire format. */
export function wordCall({ id, name, arguments: json }: ToolCall): object {
	return { id, type: 'function', function: { name, arguments: json } };
}
