import { isObject } from '../../service/json';
import { tokensIn } from '../../service/prices';

/** Under the names of n8n's run log and of its SDK for AI nodes. */
export interface TokenUsage {
	promptTokens: number;
	completionTokens: number;
	totalTokens: number;
}

/** @param usage of a chat completion or an embedding list ("Resources"), or as other services give it */
export function tokenUsageOf(usage: unknown): TokenUsage | undefined {
	if (!isObject(usage)) return undefined;
	const { input, output } = tokensIn(usage) ?? { input: 0, output: 0 };
	const totalTokens = Number(usage.total_tokens) || input + output;
	return { promptTokens: input, completionTokens: output, totalTokens };
}
