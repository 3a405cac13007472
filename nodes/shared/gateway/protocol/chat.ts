/** "Chat completion": why a choice ended. */
export const finishReasons = {
	stop: 'natural end',
	length: 'max_tokens reached',
	content_filter: 'withheld by the content filter',
	function_call: 'a function call',
	tool_calls: 'tool calls',
} as const;

/** The same in the words of other services, as far as an answer ended by itself. */
const naturalEnds = new Set([
	...['', 'null', 'stop', 'end_turn', 'stop_sequence', 'tool_calls', 'tool_use', 'function_call'],
	...['eos', 'eos_token', 'complete', 'completed', 'done', 'end', 'finish', 'finished', 'success'],
]);
const otherWords: Readonly<Record<string, keyof typeof finishReasons>> = {
	...{ max_tokens: 'length', max_output_tokens: 'length', safety: 'content_filter' },
	...{ sensitive: 'content_filter', recitation: 'content_filter' },
};

/** Why an answer is not complete, in words; undefined for one that ended by itself. */
export function cutShort(end: unknown): string | undefined {
	const word = String(end ?? '').toLowerCase();
	if (naturalEnds.has(word.replace(/[- ]/g, '_'))) return undefined;
	const known = Object.hasOwn(otherWords, word) ? otherWords[word] : word;
	return known === 'length' || known === 'content_filter'
		? finishReasons[known]
		: 'it did not end by itself';
}

/** "Message": `function` and `tool` exist for some models only. */
export const messageRoles = ['system', 'user', 'assistant', 'function', 'tool'] as const;

/** "Events": the last server-sent event of a streamed chat. */
export const streamEnd = '[DONE]';
