import { excerpt } from '../../service/json';
import { words } from '../../service/words';

// Expressions, Code nodes and spreadsheets put words into a text by accident, which would be ordered and charged.

export interface Accident {
	/** Continues the name of the field: "holds …". */
	problem: string;
	/** Set when the text may be meant like this. */
	kind?: 'hint';
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

/** Whether the text is only a word for a missing value. */
export const isStray = (text: string) => missing.includes(text.trim());

/**
 * @param isOrdered whether the text is the prompt of a video or an image, which is not about such words. In a chat, they
 * can be the subject, so only a text that is nothing else is refused.
 */
export function accidentIn(text: string, isOrdered = false): Accident | undefined {
	if (isStray(text)) return { problem: `is only ${text.trim()}${checkOrigin}` };
	return placeholderIn(text, isOrdered) ?? (isOrdered ? doubtfulIn(text) : undefined);
}

/** The accident in the texts of JSON. @param isOrdered as in {@link accidentIn} */
export function accidentInJson(json: unknown, isOrdered = false): Accident | undefined {
	const accidents = textsIn(json).flatMap((text) => placeholderIn(text, isOrdered) ?? []);
	return accidents.find(({ kind }) => kind !== 'hint') ?? accidents[0];
}

/** A text that stands for a value which never took its place. @param isOrdered as in {@link accidentIn} */
export function placeholderIn(text: string, isOrdered: boolean): Accident | undefined {
	const expression = inBraces(text, variable);
	if (expression === undefined && !text.includes(objectText)) return undefined;
	const rest = text.replace(braces, '').replaceAll(objectText, '');
	const isDoubtful = !isOrdered && !/^[\s,=]*$/.test(rest);
	const problem =
		expression === undefined
			? `holds ${objectText}, an object in place of a text: choose one of its fields`
			: `holds an expression that was not evaluated (${excerpt(expression, 80)}): switch the field to Expression`;
	return { problem, kind: isDoubtful ? 'hint' : undefined };
}

/** In a prompt, which may also mean it. */
function doubtfulIn(text: string): Accident | undefined {
	const template = inBraces(text, placeholder);
	if (template !== undefined) {
		return { problem: `holds ${excerpt(template, 80)}, which nothing has filled in`, kind: 'hint' };
	}
	const word = missingWord.exec(text)?.[0];
	return word ? { problem: `holds the word ${word}${checkOrigin}`, kind: 'hint' } : undefined;
}

const inBraces = (text: string, pattern: RegExp): string | undefined =>
	text.match(braces)?.find((each) => pattern.test(each));

const checkOrigin = ': check the expression that it comes from';

/** All texts in a value, without the names of its fields. */
export function textsIn(value: unknown): string[] {
	if (typeof value === 'string') return [value];
	if (typeof value !== 'object' || value === null) return [];
	return Object.values(value).flatMap(textsIn);
}
