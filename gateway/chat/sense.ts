import type { JsonObject } from '../../nodes/shared/service/json';
import { requestOf, summaryOf, type ChatMessage } from './messages';

// There is no model behind the gateway. For the prompts of the examples, it answers as a sensible model would.

/** Words that speak for an option. */
const signs: Partial<Record<string, RegExp>> = {
	billing: /\b(bill|card|charge|invoice|money|paid|refund)/gi,
	technical: /\b(app|broken|crash|error|log ?in|start|update)/gi,
	sales: /\b(buy|cost|discount|offer|price|quote)/gi,
	high: /\b(asap|at once|immediately|in an hour|today|urgent)|!/gi,
	low: /\b(no hurry|no rush|whenever)/gi,
};

/** The options for a text that speaks for none, in the order of preference. */
const undecided: unknown[] = ['unclear', 'unknown', 'other', 'normal', 'medium'];

/** The option for which most words of the text speak. */
export function choose(options: unknown[], text: string): unknown {
	const votes = (option: unknown) => {
		const sign = signs[String(option)];
		return sign ? (text.match(sign)?.length ?? 0) : 0;
	};
	const [best] = options.toSorted((one, other) => votes(other) - votes(one));
	if (votes(best) > 0) return best;
	return undecided.find((option) => options.includes(option)) ?? options[0];
}

/** The subject of a chat: the lines of its request that begin with a label, or else the start of its request. */
export function topicOf(messages: ChatMessage[]): string {
	const labelled = requestOf(messages).text.matchAll(/^[A-Z]\w+: (.+)$/gm);
	return [...labelled].map(([, text]) => text).join(' ') || summaryOf(messages);
}

/**
 * The schema of the JSON that a prompt asks for by an example with dots, such as `{"category": "..."}`. A sentence such
 * as “category is one of: billing, sales.” lists the options of a field.
 */
export function askedSchema(messages: ChatMessage[]): JsonObject | undefined {
	const prompt = messages.map(({ text }) => text).join('\n');
	const [json] = /\{(\s*"\w+": "(\.{3}|…)",?)+\s*\}/.exec(prompt) ?? [];
	if (json === undefined || !/\bJSON\b/.test(prompt)) return undefined;
	const fields = [...json.matchAll(/"(\w+)":/g)].map(([, name]) => {
		const [, options] = new RegExp(`\\b${name} is one of: ([\\w, -]+)`).exec(prompt) ?? [];
		return [name, { type: 'string', ...(options && { enum: options.split(/, */) }) }];
	});
	return { type: 'object', properties: Object.fromEntries(fields) };
}

/** The answer of the entry of a FAQ that the prompt contains. */
export function answerInPrompt(messages: ChatMessage[]): string | undefined {
	const prompts = messages.filter(({ role }) => role === 'system').map(({ text }) => text);
	return /^Entry: .+\n(.+)$/m.exec(prompts.join('\n'))?.[1];
}
