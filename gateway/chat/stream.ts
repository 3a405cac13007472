import { setTimeout } from 'node:timers/promises';
import { streamEnd } from '../../nodes/shared/service/protocol/chat';
import { tokensOf } from '../tokens';
import { wordCall, type Completion } from './completion';
import type { Reply } from './reply';

const object = 'chat.completion.chunk';

/** The part of a chunk that belongs to one choice. */
interface Change {
	delta: object;
	finish_reason: string | null;
}

/**
 * "Endpoints" 4, streaming: yields one event at a time, so that a fault can change or drop each one. The specification
 * does not show the usage: here a last chunk without choices has it.
 */
export async function* streamCompletion(
	{ id, created, model, replies, usage }: Completion,
	tokenMilliseconds: number,
): AsyncGenerator<string> {
	const head = { id, object, created, model };
	const lanes = replies.map(changesOf);
	const steps = Math.max(...lanes.map((changes) => changes.length));
	for (let step = 0; step < steps; step++) {
		// Even a timer of 0 ms would take a millisecond.
		if (tokenMilliseconds > 0) await setTimeout(tokenMilliseconds, undefined, { ref: false });
		for (const [index, changes] of lanes.entries()) {
			if (step >= changes.length) continue;
			yield eventOf(JSON.stringify({ ...head, choices: [{ index, ...changes[step] }] }));
		}
	}
	yield eventOf(JSON.stringify({ ...head, choices: [], usage }));
	yield eventOf(streamEnd);
}

const eventOf = (data: string): string => `data: ${data}\n\n`;

function changesOf({ text, toolCalls, finishReason }: Reply): Change[] {
	const deltas = [
		{ role: 'assistant' },
		...tokensOf(text).map((content) => ({ content })),
		...toolCalls.flatMap((call, index) => [
			{ tool_calls: [{ index, ...wordCall({ ...call, arguments: '' }) }] },
			...tokensOf(call.arguments).map((json) => ({
				tool_calls: [{ index, function: { arguments: json } }],
			})),
		]),
	];
	return [
		...deltas.map((delta) => ({ delta, finish_reason: null })),
		{ delta: {}, finish_reason: finishReason },
	];
}
