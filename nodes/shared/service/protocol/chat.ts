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
/** The same for one that did not. */
const cutReasons = {
	length: words('length max_tokens max_output_tokens max_length token_limit'),
	content_filter: words(`
		content_filter content_filtered guardrail_intervened safety image_safety prohibited_content
		image_prohibited_content blocklist sensitive recitation
	`),
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
	const reasons = ['length', 'content_filter'] as const;
	const reason = reasons.find((each) => cutReasons[each].includes(word));
	return { why: reason && finishReasons[reason] };
}

/** "Message": `function` and `tool` exist for some models only. */
export const messageRoles = ['system', 'user', 'assistant', 'function', 'tool'] as const;

/** "Events": the last server-sent event of a streamed chat. */
export const streamEnd = '[DONE]';

/** The end mark as servers write it. */
export const isStreamEnd = (line: string): boolean => /^\[?done\]?$/i.test(line);
