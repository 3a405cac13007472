import { isObject, type JsonObject } from '../json';
import { maxKeptParts } from '../protocol/bounds';

/** Counts what a stream keeps besides texts. */
export class KeptParts {
	private count = 0;

	add(count = 1): void {
		this.count += count;
	}

	get areTooMany(): boolean {
		return this.count > maxKeptParts;
	}
}

/** Copies the fields of a fragment. Objects are merged in place, and an empty value never replaces another. */
export function mergeInto(target: JsonObject, fragment: JsonObject, kept?: KeptParts): JsonObject {
	for (const [name, value] of Object.entries(fragment)) {
		const before = Object.hasOwn(target, name) ? target[name] : undefined;
		if (before === undefined) kept?.add();
		const isKept = before !== undefined && isEmpty(value);
		if (isObject(value) && !isKept)
			defineField(target, name, mergeInto(isObject(before) ? before : {}, value, kept));
		else if (!isKept) defineField(target, name, value);
	}
	return target;
}

export function isEmpty(value: unknown): boolean {
	if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
	return value === undefined || value === null || value === '';
}

/**
 * What a text adds to the text before it: a message in a chunk is a part of the answer, or the answer so far.
 * @param mayRepeat whether the same text again is a repetition, and not a part like the one before
 */
export function addedBy(text: string, before: string, mayRepeat: boolean): string {
	// Comparing a long text with each of many short ones would be slow.
	if (before === '' || 2 * text.length < before.length) return text;
	const isLonger = text.length > before.length;
	if ((isLonger || mayRepeat) && before.trim() !== '' && text.startsWith(before))
		return text.slice(before.length);
	return mayRepeat && text.trim() === before.trim() ? '' : text;
}

/** Assigns a field even when its name is `__proto__`. */
export function defineField(object: JsonObject, name: string, value: unknown): void {
	Object.defineProperty(object, name, {
		value,
		writable: true,
		enumerable: true,
		configurable: true,
	});
}
