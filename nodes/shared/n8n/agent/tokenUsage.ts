import { isObject } from '../../service/json';

/** The tokens that a call of a model used, under the names of n8n's run log and of its SDK for AI nodes. */
export interface TokenUsage {
	promptTokens: number;
	completionTokens: number;
	totalTokens: number;
}

/**
 * @param usage of a chat completion or an embedding list ("Resources"), or of an answer as other services give it;
 * undefined when the service sent none
 */
export function tokenUsageOf(usage: unknown): TokenUsage | undefined {
	if (!isObject(usage)) return undefined;
	const tokens = (...names: string[]) =>
		Number(names.map((name) => usage[name]).find(Number.isFinite) ?? 0);
	const promptTokens = tokens('prompt_tokens', 'input_tokens');
	const completionTokens = tokens('completion_tokens', 'output_tokens');
	const totalTokens = tokens('total_tokens') || promptTokens + completionTokens;
	return { promptTokens, completionTokens, totalTokens };
}
