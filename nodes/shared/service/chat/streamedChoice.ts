import { asText, isObject, type JsonObject } from '../json';
import type { Choice } from './completion';
import { addedBy, addFragment, isEmpty, type KeptParts } from './fragments';
import { isTextPart, partsOf, textOf } from './message';
import { StreamedToolCalls } from './toolCalls';

/** In characters: a shorter text may be said twice. */
const minRepeated = 40;

/** One answer, assembled from the chunks of a stream. */
export class StreamedChoice {
	text = '';
	finishReason?: string | null;
	private readonly message: JsonObject = { role: 'assistant' };
	private readonly toolCalls: StreamedToolCalls;
	/** Beside the message. */
	private readonly others: JsonObject = {};
	/** The content as a list, in which no text follows another. */
	private readonly parts: unknown[] = [];

	constructor(private readonly kept: KeptParts) {
		this.toolCalls = new StreamedToolCalls(kept);
	}

	/** @returns the text that this chunk adds */
	add({ delta: given, message, finish_reason: reason, logprobs, usage }: Choice): string {
		// Some servers send the text alone.
		const delta = typeof given === 'string' ? { content: given } : given;
		addFragment(this.others, { logprobs }, 'follows', this.kept);
		addFragment(this.others, { usage }, 'replaces', this.kept);
		// Some servers send an empty one until the end.
		const end = reason === 'null' ? undefined : asText(reason);
		this.finishReason = end ?? this.finishReason ?? (reason === null ? null : undefined);
		const isDelta =
			isObject(delta) &&
			Object.keys(delta).some((name) => name !== 'role' && !isEmpty(delta[name]));
		// Beside the delta, some servers send the answer so far.
		const { content, tool_calls, ...others } = isDelta ? delta : message;
		this.toolCalls.add(tool_calls, !isDelta);
		// Reasoning and refusals are streamed, too.
		addFragment(this.message, others, isDelta ? 'follows' : 'unclear', this.kept);
		const isWhole = !isDelta || (end !== undefined && this.repeats(content));
		return this.addContent(content, isWhole);
	}

	get(index: number): Choice {
		const { message, text, parts, others, finishReason: finish_reason } = this;
		const tool_calls = this.toolCalls.list();
		const content = parts.every(isTextPart) ? text : parts;
		const whole = { ...message, content, ...(tool_calls && { tool_calls }) };
		return { index, message: whole, finish_reason, ...others };
	}

	/** Some services end with all of the text again. */
	private repeats(content: unknown): boolean {
		return this.text.length >= minRepeated && textOf({ content }) === this.text;
	}

	/** @param isWhole whether it may be the whole answer so far */
	private addContent(content: unknown, isWhole: boolean): string {
		const text = textOf({ content });
		const added = isWhole ? addedBy(text, this.text) : text;
		const isRepeated = added !== text;
		this.text += added;
		const hadOthers = !this.parts.slice(0, 2).every(isTextPart);
		const given = partsOf(content);
		const others = given.filter((part) => !isTextPart(part));
		for (const part of isRepeated ? [added, ...others] : given) {
			if (isTextPart(part)) this.addText(textOf({ content: part }));
			else if (!isWhole || !hadOthers) {
				this.parts.push(part);
				this.kept.count++;
			}
		}
		return added;
	}

	private addText(text: string): void {
		const last = this.parts.at(-1);
		if (isObject(last) && isTextPart(last)) last.text = textOf({ content: last }) + text;
		else if (text !== '') this.parts.push({ type: 'text', text });
	}
}
