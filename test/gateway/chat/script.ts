import { randomUUID } from 'node:crypto';
import type { ChatMessage } from './messages';
import type { ToolCall } from './reply';

// A user can script what the model says, so that a test or a demo knows the answer beforehand.

/** `say TEXT`: the rest of the line is the answer. */
export function scriptedText(text: string): string | undefined {
	return /^\s*say (.+)$/im.exec(text)?.[1];
}

/** `call NAME with {json}`, one a line: the tools to call. The JSON is passed on as it is. */
export function scriptedCalls(text: string): ToolCall[] {
	const calls = text.matchAll(/\bcall ([\w-]+) with (\{.*\})/gi);
	return [...calls].map(([, name, json]) => ({
		id: `call_${randomUUID()}`,
		name,
		arguments: json,
	}));
}

/** What the tools gave that were called last, when the conversation ends with it. */
export function toolResults(messages: ChatMessage[]): string[] {
	const isResult = ({ role }: ChatMessage) => role === 'tool' || role === 'function';
	const before = messages.findLastIndex((message) => !isResult(message));
	return messages.slice(before + 1).map(({ text }) => text);
}
