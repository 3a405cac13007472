import { words } from '../words';

/** "Chat completion": why a choice ended. */
export const finishReasons = {
	stop: 'natural end',
	length: 'max_tokens reached',
	content_filter: 'withheld by the content filter',
	function_call: 'a function call',
	tool_calls: 'tool calls',
} as const;

/** Words of other services for an answer that ended by itself. */
const naturalEnds = new Set(
	words(`
		null stop stopped stop_token stop_string end_turn stop_sequence tool_call tool_calls tool_use
		function_call eos eos_token end_of_text complete completed done end finish finished success
		normal unspecified
	`),
);
const otherWords: Readonly<Record<string, keyof typeof finishReasons>> = {
	max_tokens: 'length',
	max_output_tokens: 'length',
	max_length: 'length',
	token_limit: 'length',
	content_filtered: 'content_filter',
	guardrail_intervened: 'content_filter',
	safety: 'content_filter',
	image_safety: 'content_filter',
	prohibited_content: 'content_filter',
	image_prohibited_content: 'content_filter',
	blocklist: 'content_filter',
	sensitive: 'content_filter',
	recitation: 'content_filter',
};

/**
 * @param end why an answer ended, in the service's word
 * @returns undefined for an answer that ended by itself; else why it did not, as far as that is known
 */
export function cutShort(end: unknown): { why?: string } | undefined {
	const word = String(end ?? '')
		.toLowerCase()
		.replace(/[- ]/g, '_')
		.replace(/^finish_reason_/, '');
	if (word === '' || naturalEnds.has(word)) return undefined;
	const known = Object.hasOwn(otherWords, word) ? otherWords[word] : word;
	const isKnown = known === 'length' || known === 'content_filter';
	return { why: isKnown ? finishReasons[known] : undefined };
}

/** "Message": `function` and `tool` exist for some models only. */
export const messageRoles = ['system', 'user', 'assistant', 'function', 'tool'] as const;

/** "Events": the last server-sent event of a streamed chat. */
export const streamEnd = '[DONE]';

/** The end mark as servers write it. */
export const isStreamEnd = (line: string): boolean => /^\[?done\]?$/i.test(line);
