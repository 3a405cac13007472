import { randomUUID } from 'node:crypto';
import type { ChatMessage } from './messages';
import type { Reply, ToolCall } from './reply';

// A test, a demo or a user can script what the model says, and so know the answer beforehand.

/** One turn of the model. */
export interface ScriptedTurn {
	text?: string;
	/** Tools to call. Arguments that are an object become JSON; a text is passed on unchanged. */
	calls?: Array<{ name: string; arguments: object | string }>;
	/** By default `tool_calls` or `stop`. */
	finishReason?: Reply['finishReason'];
}

/** A turn, a text alone, or a function that makes one of them from the conversation. */
export type ScriptStep =
	string | ScriptedTurn | ((messages: ChatMessage[]) => string | ScriptedTurn);

/** The reply of the model in a turn of the script, whatever the request was. */
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

/** `call NAME with {json}`, one on each line: the tools to call. The JSON is passed on unchanged. */
export function scriptedCalls(text: string): ToolCall[] {
	const calls = text.matchAll(/\bcall ([\w-]+) with (\{.*\})/gi);
	return [...calls].map(([, name, json]) => callOf(name, json));
}

/** The results of the last tool calls, when the conversation ends with them. */
export function toolResults(messages: ChatMessage[]): string[] {
	const isResult = ({ role }: ChatMessage) => role === 'tool' || role === 'function';
	const before = messages.findLastIndex((message) => !isResult(message));
	return messages.slice(before + 1).map(({ text }) => text);
}
