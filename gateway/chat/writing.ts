import type { Image } from '@napi-rs/canvas';
import { loadPicture } from '../pictures';
import { provocations } from '../prompts';
import { mainColour } from '../rendering';
import type { Service } from '../service';
import { requestOf, summaryOf, type ChatMessage } from './messages';
import type { ChatOrder } from './order';
import { answerInPrompt } from './sense';
import { say, withheld, type Reply } from './reply';
import { play, scriptedCalls, scriptedText, toolResults } from './script';
import { videoTurn } from './videoAgent';

/** Answers a chat with text, one reply for each choice. Without a script, the same chat gets the same answer. */
export async function writeReplies(
	{ script }: Service,
	order: ChatOrder,
	signal: AbortSignal,
): Promise<Reply[]> {
	const { messages, choices, tools, format } = order;
	const step = script.shift() ?? videoTurn(order);
	if (step !== undefined) return [play(step, messages)];

	const request = requestOf(messages);
	const pictures = messages.flatMap((message) => message.pictures);
	const images = await Promise.all(pictures.map((picture) => loadPicture(picture, signal)));
	const reply = (index: number): Reply => {
		if (request.text.includes(provocations.filtered)) return withheld;

		const results = toolResults(messages);
		if (results.length > 0 && !format) return say(`The tools gave: ${results.join('; ')}`, order);

		const mayCall = tools.length > 0 && results.length === 0;
		const toolCalls = mayCall ? scriptedCalls(request.text) : [];
		if (toolCalls.length > 0) return { text: '', toolCalls, finishReason: 'tool_calls' };

		const facts = factsOf(request, messages, images);
		const answer = format ? (format.json ?? JSON.stringify(facts)) : textOf(facts, messages);
		const text = scriptedText(request.text) ?? answer;
		return say(index > 0 && !format ? `${index + 1}. ${text}` : text, order);
	};
	return Array.from({ length: choices }, (_, index) => reply(index));
}

/** An answer to a chat that takes no understanding of it. */
interface Facts {
	summary: string;
	words: number;
	/** The role of each message. */
	roles: string[];
	images: Array<{ width: number; height: number; colour: string }>;
}

const wordSegments = new Intl.Segmenter('en', { granularity: 'word' });

function factsOf({ text }: ChatMessage, messages: ChatMessage[], images: Image[]): Facts {
	return {
		summary: summaryOf(messages),
		words: [...wordSegments.segment(text)].filter(({ isWordLike }) => isWordLike).length,
		roles: messages.map(({ role }) => role),
		images: images.map((image) => {
			const { width, height } = image;
			return { width, height, colour: mainColour(image) };
		}),
	};
}

function textOf({ summary, words, roles, images }: Facts, messages: ChatMessage[]): string {
	const answer = answerInPrompt(messages);
	if (answer !== undefined) return answer;
	if (/\balt text\b/.test(summary) && images.length > 0) {
		return `An image in mostly ${images.map(({ colour }) => colour).join(' and ')}.`;
	}
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
