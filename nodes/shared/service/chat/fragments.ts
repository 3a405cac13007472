import { isObject, parseJson, type JsonObject } from '../json';

/** Counts what a stream keeps besides texts. */
export interface KeptParts {
	count: number;
}

/** How a fragment relates to what came before it. An unclear one may also be the whole so far. */
type Relation = 'follows' | 'replaces' | 'unclear';

/** Texts that every fragment gives whole. */
const wholeTexts = new Set(['id', 'object', 'role', 'type']);

/**
 * Adds a fragment to what came before it; an empty value replaces no other.
 * @param target is changed in place, so that many fragments take linear time
 */
export function addFragment(
	target: JsonObject,
	fragment: JsonObject,
	relation: Relation,
	kept: KeptParts,
): JsonObject {
	for (const [name, value] of Object.entries(fragment)) {
		const before = Object.hasOwn(target, name) ? target[name] : undefined;
		if ((value ?? null) === null || (before !== undefined && isEmpty(value))) continue;
		if (relation === 'replaces' && value === before) continue;
		if (before === undefined) kept.count++;
		// Some servers give a name in pieces, others repeat it.
		const ofName = name === 'name' && relation === 'follows' ? 'unclear' : relation;
		const own = wholeTexts.has(name) ? 'replaces' : ofName;
		const joined = isObject(value)
			? addFragment(isObject(before) ? before : {}, value, own, kept)
			: join(before, value, own);
		if (Array.isArray(value)) kept.count += value.length;
		// Assigns a field even when its name is `__proto__`.
		Object.defineProperty(target, name, {
			value: joined,
			writable: true,
			enumerable: true,
			configurable: true,
		});
	}
	return target;
}

function join(before: unknown, value: unknown, relation: Relation): unknown {
	if (relation === 'replaces') return value;
	if (typeof before === 'string' && typeof value === 'string') {
		// A whole object has no continuation: the same one is repeated, and an empty one stood for what follows.
		const isObjectAgain = value.startsWith('{') && (before === value || before === '{}');
		if (isObjectAgain && isObject(parseJson(before))) return value;
		return before + (relation === 'follows' ? value : addedBy(value, before));
	}
	if (!Array.isArray(before) || !Array.isArray(value)) return value;
	if (relation === 'unclear') return value.length > before.length ? value : before;
	for (const entry of value) before.push(entry);
	return before;
}

export function isEmpty(value: unknown): boolean {
	if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
	return value === undefined || value === null || value === '';
}

/** The part that is new in a text, which may be the answer so far, a repetition of it, or the next part. */
export function addedBy(text: string, before: string): string {
	// Comparing a long text with each of many short ones would be slow.
	if (before.trim() === '' || 2 * text.length < before.length) return text;
	if (text.startsWith(before)) return text.slice(before.length);
	return text.trim() === before.trim() ? '' : text;
}
