import { setTimeout } from 'node:timers/promises';
import { streamEnd } from '../../../nodes/shared/gateway/protocol/chat';
import { tokensOf } from '../tokens';
import { wordCall, type Completion } from './completion';
import type { Reply } from './reply';

const object = 'chat.completion.chunk';

/** What one chunk tells of one choice. */
interface Change {
	delta: object;
	finish_reason: string | null;
}

/**
 * "Endpoints" 4, streaming: gives one event at a time, so that a fault can change or leave out each.
 * The usage is not shown: it comes in a last chunk that has no choices.
 */
export async function* streamCompletion(
	{ id, created, model, replies, usage }: Completion,
	tokenMilliseconds: number,
): AsyncGenerator<string> {
	const head = { id, object, created, model };
	const lanes = replies.map(changesOf);
	const steps = Math.max(...lanes.map((changes) => changes.length));
	for (let step = 0; step < steps; step++) {
		// A timer would cost a millisecond even when it is set to none.
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
