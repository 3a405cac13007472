/** "Chat completion": why a choice ended. */
export const finishReasons = {
	stop: 'natural end',
	length: 'max_tokens reached',
	content_filter: 'withheld by the content filter',
	function_call: 'a function call',
	tool_calls: 'tool calls',
} as const;

/** "Message": `function` and `tool` exist for some models only. */
export const messageRoles = ['system', 'user', 'assistant', 'function', 'tool'] as const;

/** "Events": the last server-sent event of a streamed chat. */
export const streamEnd = '[DONE]';
