import type { Image } from '@napi-rs/canvas';
import { loadPicture } from '../pictures';
import { provocations } from '../prompts';
import { mainColour } from '../rendering';
import type { Service } from '../service';
import { tokensOf } from '../tokens';
import { requestOf, type ChatMessage } from './messages';
import type { ChatOrder } from './order';
import { say, withheld, type Reply } from './reply';
import { play, scriptedCalls, scriptedText, toolResults } from './script';
import { videoTurn } from './videoAgent';

/** Answers a chat with text, one reply for each choice. Without a script, the same chat gets the same answer. */
export async function writeReplies(
	{ script }: Service,
	order: ChatOrder,
	signal: AbortSignal,
): Promise<Reply[]> {
	const { messages, choices, tools, asJson } = order;
	const step = script.shift() ?? videoTurn(order);
	if (step !== undefined) return [play(step, messages)];

	const request = requestOf(messages);
	const pictures = messages.flatMap((message) => message.pictures);
	const images = await Promise.all(pictures.map((picture) => loadPicture(picture, signal)));
	const reply = (index: number): Reply => {
		if (request.text.includes(provocations.filtered)) return withheld;

		const results = toolResults(messages);
		if (results.length > 0) return say(`The tools gave: ${results.join('; ')}`, order);

		const toolCalls = tools.length > 0 ? scriptedCalls(request.text) : [];
		if (toolCalls.length > 0) return { text: '', toolCalls, finishReason: 'tool_calls' };

		const facts = factsOf(request, messages, images);
		const text = scriptedText(request.text) ?? (asJson ? JSON.stringify(facts) : proseOf(facts));
		return say(index > 0 && !asJson ? `${index + 1}. ${text}` : text, order);
	};
	return Array.from({ length: choices }, (_, index) => reply(index));
}

/** What the model can say about a chat without understanding it. */
interface Facts {
	summary: string;
	words: number;
	/** The role of each message. */
	roles: string[];
	images: Array<{ width: number; height: number; colour: string }>;
}

const summaryTokens = 20;
const wordSegments = new Intl.Segmenter('en', { granularity: 'word' });

function factsOf({ text }: ChatMessage, messages: ChatMessage[], images: Image[]): Facts {
	const tokens = tokensOf(text.replace(/\s+/g, ' ').trim());
	const start = tokens.slice(0, summaryTokens).join('');
	return {
		summary: tokens.length > summaryTokens ? `${start}…` : start,
		words: [...wordSegments.segment(text)].filter(({ isWordLike }) => isWordLike).length,
		roles: messages.map(({ role }) => role),
		images: images.map((image) => {
			const { width, height } = image;
			return { width, height, colour: mainColour(image) };
		}),
	};
}

function proseOf({ summary, words, roles, images }: Facts): string {
	return [
		`In short: “${summary}”.`,
		`You wrote ${count(words, 'word')}.`,
		`Our chat has ${count(roles.length, 'message')}: ${roles.join(', ')}.`,
		...images.map(
			({ width, height, colour }, index) =>
				`Image ${index + 1} is ${width} x ${height} pixels and mostly ${colour}.`,
		),
	].join(' ');
}

const count = (amount: number, noun: string): string =>
	`${amount} ${noun}${amount === 1 ? '' : 's'}`;
