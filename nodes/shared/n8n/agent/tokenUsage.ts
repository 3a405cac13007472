import { isObject } from '../../service/json';

/** The tokens that a call of a model used, under the names of n8n's run log and of its SDK for AI nodes. */
export interface TokenUsage {
	promptTokens: number;
	completionTokens: number;
	totalTokens: number;
}

/** @param usage of a chat completion or an embedding list ("Resources"); undefined when the service sent none */
export function tokenUsageOf(usage: unknown): TokenUsage | undefined {
	if (!isObject(usage)) return undefined;
	const tokens = (name: string) => (Number.isFinite(usage[name]) ? Number(usage[name]) : 0);
	const promptTokens = tokens('prompt_tokens');
	const completionTokens = tokens('completion_tokens');
	const totalTokens = tokens('total_tokens') || promptTokens + completionTokens;
	return { promptTokens, completionTokens, totalTokens };
}
