import { excerpt } from '../../service/json';
import { words } from '../../service/words';

// Expressions, Code nodes and spreadsheets put words into a text by accident, which would be ordered and charged.

/** Something that is in a text by accident. */
export interface Accident {
	/** Continues the name of the field: "holds …". */
	problem: string;
	/** Whether the text may be meant like this, so that a hint is enough. */
	isHint?: true;
}

/** The words that JavaScript writes for a missing value, and a spreadsheet for one that it cannot give. */
const missing = words(`
	undefined null NaN #N/A #REF! #VALUE! #NAME? #DIV/0! #NUM! #NULL! #ERROR! #SPILL! #CALC! #FIELD!
	#BLOCKED! #CONNECT! #BUSY! #GETTING_DATA #UNKNOWN! Loading... Loading…
`);
const missingWord = /\b(?:undefined|NaN)\b/;

/** Double braces and what is between them. */
const braces = /\{\{(?:(?!\{\{|\}\})[^]){0,2000}\}\}/g;

/** A variable of n8n. Templates of other programs have variables with a dollar sign, too, but other ones. */
const variable =
	/\$(?:\(|(?:json|input|items?|node|binary|vars|env|secrets|now|today|workflow|execution|prevNode|runIndex|itemIndex|parameter|fromAI|ifEmpty)\b)/;

/** A name in double braces. Braces of JSON have other characters between them. */
const placeholder = /^\{\{[\w\s.$()[\]'-]{1,100}\}\}$/;

const objectText = '[object Object]';

/** Whether the text is nothing but what stands for a missing value. */
export const isStray = (text: string) => missing.includes(text.trim());

/**
 * The accident in a whole text.
 * @param isOrdered whether it is the prompt of a video or an image, which is not about such words. In a chat, they can be
 * the subject, so only a text that is nothing else is refused.
 */
export function accidentIn(text: string, isOrdered = false): Accident | undefined {
	if (isStray(text)) return { problem: `is only ${text.trim()}${checkOrigin}` };
	const accident = placeholderIn(text, isOrdered);
	return accident ?? (isOrdered ? doubtfulIn(text) : undefined);
}

/** The accident in the texts of JSON. @param isOrdered as in {@link accidentIn} */
export function accidentInJson(json: unknown, isOrdered = false): Accident | undefined {
	const accidents = textsIn(json).flatMap((text) => placeholderIn(text, isOrdered) ?? []);
	return accidents.find(({ isHint }) => !isHint) ?? accidents[0];
}

/** A text that stands for a value which never took its place. @param isOrdered as in {@link accidentIn} */
export function placeholderIn(text: string, isOrdered: boolean): Accident | undefined {
	const expression = inBraces(text, variable);
	const hasObject = text.includes(objectText);
	if (expression === undefined && !hasObject) return undefined;
	const rest = text.replace(braces, '').replaceAll(objectText, '');
	const isHint = isOrdered || /^[\s,=]*$/.test(rest) ? {} : { isHint: true as const };
	if (expression !== undefined) {
		const problem = `holds an expression that was not evaluated (${excerpt(expression, 80)}): switch the field to Expression`;
		return { problem, ...isHint };
	}
	return {
		problem: `holds ${objectText}, an object in place of a text: choose one of its fields`,
		...isHint,
	};
}

/** A word in a prompt that may be there by accident. */
function doubtfulIn(text: string): Accident | undefined {
	const template = inBraces(text, placeholder);
	if (template !== undefined) {
		return { problem: `holds ${excerpt(template, 80)}, which nothing has filled in`, isHint: true };
	}
	const [word] = missingWord.exec(text) ?? [];
	return word === undefined
		? undefined
		: { problem: `holds the word ${word}${checkOrigin}`, isHint: true };
}

/** The first expression or placeholder that matches. */
function inBraces(text: string, pattern: RegExp): string | undefined {
	for (const [each] of text.matchAll(braces)) if (pattern.test(each)) return each;
	return undefined;
}

const checkOrigin = ': check the expression that it comes from';

/** All texts in a value, without the names of its fields. */
export function textsIn(value: unknown): string[] {
	if (typeof value === 'string') return [value];
	if (typeof value !== 'object' || value === null) return [];
	return Object.values(value).flatMap(textsIn);
}
