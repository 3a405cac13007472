import { asText, isObject, type JsonObject } from '../json';
import { isTextPart, partsOf, textOf, type Choice } from './completion';
import { addedBy, defineField, isEmpty, type KeptParts } from './fragments';
import { mergedFunction, StreamedToolCalls } from './toolCalls';

/** One choice of a streamed completion, assembled from what the chunks have of it. */
export class StreamedChoice {
	/** The text so far. */
	text = '';
	private finishReason?: string;
	private readonly message: Choice['message'] = { role: 'assistant' };
	private readonly toolCalls: StreamedToolCalls;
	/** The content as a list, from the first part on that is no text. */
	private readonly parts: unknown[] = [];
	private hasOtherParts = false;
	/** Whether a message may repeat what came before. */
	private mayRepeat = false;

	constructor(
		readonly index: number,
		private readonly kept: KeptParts,
	) {
		this.toolCalls = new StreamedToolCalls(kept);
	}

	get isFinished(): boolean {
		return this.finishReason !== undefined;
	}

	/** @returns the text that this chunk adds */
	add({ delta, message, text, finish_reason: reason }: JsonObject): string {
		// Some servers send an empty finish reason until the end.
		this.finishReason = asText(reason) ?? this.finishReason;
		const added = isObject(delta) ? this.addFields(delta, false) : '';
		const whole = isObject(message) ? message : { content: text };
		// Beside the delta, some servers send the answer so far.
		if (isObject(delta) && saysMoreThanRole(delta)) {
			this.mayRepeat = true;
			return added;
		}
		this.mayRepeat ||= this.isFinished;
		return this.addFields(whole, true);
	}

	/** The choice as it is without streaming. */
	get(): Choice {
		const { index, message, text, parts, finishReason: finish_reason } = this;
		const tool_calls = this.toolCalls.list();
		message.content = this.hasOtherParts ? parts : text;
		return { index, message: { ...message, ...(tool_calls && { tool_calls }) }, finish_reason };
	}

	/** @param isWhole whether these are the fields of a message, which may be the whole answer so far */
	private addFields(fields: JsonObject, isWhole: boolean): string {
		const { message, mayRepeat } = this;
		let added = '';
		for (const [name, value] of Object.entries(fields)) {
			if (name === 'content') added = this.addContent(value, isWhole);
			else if (name === 'tool_calls') this.toolCalls.add(value, isWhole);
			else if (name === 'function_call' && isObject(value)) {
				message[name] = mergedFunction(message[name], value, isWhole);
			} else if (name !== 'error' && value !== null) {
				// Reasoning and refusals are streamed too, so they are appended; some servers repeat the role in each chunk.
				const before = message[name];
				const isText = typeof before === 'string' && typeof value === 'string';
				const appends = name !== 'role' && isText;
				const rest = appends && isWhole ? addedBy(value, before, mayRepeat) : value;
				if (before === undefined) this.kept.add();
				if (name === 'images' && Array.isArray(before)) {
					if (isWhole) continue;
					const images = partsOf(value);
					before.push(...images);
					this.kept.add(images.length);
				} else defineField(message, name, appends ? before + String(rest) : rest);
			}
		}
		return added;
	}

	private addContent(content: unknown, isWhole: boolean): string {
		const text = textOf({ content });
		const added = isWhole ? addedBy(text, this.text, this.mayRepeat) : text;
		const isRepeated = added !== text;
		this.mayRepeat ||= isRepeated;
		this.text += added;
		const parts = partsOf(content);
		const hasOthers = !parts.every(isTextPart);
		if (isRepeated || !hasOthers) this.addText(added);
		if (hasOthers && !(isWhole && this.hasOtherParts)) {
			this.hasOtherParts = true;
			for (const part of parts) {
				if (!isTextPart(part)) {
					this.parts.push(part);
					this.kept.add();
				} else if (!isRepeated) this.addText(textOf({ content: part }));
			}
		}
		return added;
	}

	private addText(text: string): void {
		const last = this.parts.at(-1);
		if (text === '') return;
		if (isObject(last) && last.type === 'text' && typeof last.text === 'string') last.text += text;
		else this.parts.push({ type: 'text', text });
	}
}

/** Whether a delta has a part of the answer. */
const saysMoreThanRole = (delta: JsonObject) =>
	Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value));
