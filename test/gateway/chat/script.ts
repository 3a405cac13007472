import { randomUUID } from 'node:crypto';
import type { ChatMessage } from './messages';
import type { Reply, ToolCall } from './reply';

// A user can script what the model says, so that a test or a demo knows the answer beforehand.

/** What the model says in one turn. */
export interface ScriptedTurn {
	text?: string;
	/** Tools to call; arguments given as an object become JSON, a text is passed on as it is. */
	calls?: Array<{ name: string; arguments: object | string }>;
	/** By default `tool_calls` or `stop`. */
	finishReason?: Reply['finishReason'];
}

/** A turn, a text alone, or what makes one of them from the conversation, such as the last tool result. */
export type ScriptStep =
	string | ScriptedTurn | ((messages: ChatMessage[]) => string | ScriptedTurn);

/** What the model says in a turn of the script, whatever it was asked. */
export function play(step: ScriptStep, messages: ChatMessage[]): Reply {
	const given = typeof step === 'function' ? step(messages) : step;
	const turn: ScriptedTurn = typeof given === 'string' ? { text: given } : given;
	const toolCalls = (turn.calls ?? []).map(({ name, arguments: input }) =>
		callOf(name, typeof input === 'string' ? input : JSON.stringify(input)),
	);
	return {
		text: turn.text ?? '',
		toolCalls,
		finishReason: turn.finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
	};
}

const callOf = (name: string, json: string): ToolCall => ({
	id: `call_${randomUUID()}`,
	name,
	arguments: json,
});

/** `say TEXT`: the rest of the line is the answer. */
export function scriptedText(text: string): string | undefined {
	return /^\s*say (.+)$/im.exec(text)?.[1];
}

/** `call NAME with {json}`, one a line: the tools to call. The JSON is passed on as it is. */
export function scriptedCalls(text: string): ToolCall[] {
	const calls = text.matchAll(/\bcall ([\w-]+) with (\{.*\})/gi);
	return [...calls].map(([, name, json]) => callOf(name, json));
}

/** What the tools gave that were called last, when the conversation ends with it. */
export function toolResults(messages: ChatMessage[]): string[] {
	const isResult = ({ role }: ChatMessage) => role === 'tool' || role === 'function';
	const before = messages.findLastIndex((message) => !isResult(message));
	return messages.slice(before + 1).map(({ text }) => text);
}
