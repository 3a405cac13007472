import type { finishReasons } from '../../nodes/shared/service/protocol/chat';
import { tokensOf } from '../tokens';
import type { ChatOrder } from './order';

export interface ToolCall {
	id: string;
	name: string;
	/** JSON, unless a script makes the model misbehave. */
	arguments: string;
}

/** The answer of a model for one choice. */
export interface Reply {
	text: string;
	toolCalls: ToolCall[];
	finishReason: keyof typeof finishReasons;
	/** The link to the image that was made for it. */
	picture?: string;
}

/** Returns a text as far as the stop sequences and the maximum of tokens allow. */
export function say(text: string, { stops, maxTokens }: ChatOrder): Reply {
	const ends = stops.map((stop) => text.indexOf(stop)).filter((position) => position >= 0);
	const tokens = tokensOf(text.slice(0, Math.min(text.length, ...ends)));
	return {
		text: tokens.slice(0, maxTokens).join(''),
		toolCalls: [],
		finishReason: tokens.length > maxTokens ? 'length' : 'stop',
	};
}

export const withheld: Reply = { text: '', toolCalls: [], finishReason: 'content_filter' };
