import { describeValue, parseJson, toJson } from '../../service/json';
import { fieldProblem, type FieldRule } from '../../service/protocol/fields';
import { accidentIn, type Accident } from './accidentalText';
import type { Report } from './field';

// The value of a parameter can be anything when an expression gives it.

/** A text that is not empty, and that somebody meant. @param isOrdered as in {@link accidentIn} */
export function intendedText(value: unknown, report: Report, isOrdered = false): string {
	const text = toText(value ?? '', report);
	if (text?.trim() === '') report('is empty');
	reportAccident(accidentIn(text ?? '', isOrdered), report);
	return text ?? '';
}

export function reportAccident(accident: Accident | undefined, report: Report): void {
	if (accident) report(accident.problem, accident.kind);
}

export function textIn(value: unknown, report: Report): string | undefined {
	const text = toText(value, report);
	return text?.trim() === '' ? undefined : text;
}

/** Undefined for no value, and for one that is no text, which is reported. */
export function toText(value: unknown, report: Report): string | undefined {
	if (value === undefined || value === null) return undefined;
	if (typeof value === 'string') return value;
	if (Number.isFinite(value) || typeof value === 'boolean') return String(value);
	report(`must be a text (it is ${describeValue(value)})`, 'unsendable');
	return undefined;
}

/** A numeral becomes a number. The rule checks anything else. */
export function numberIn(value: unknown, rule: FieldRule | undefined, report: Report): number {
	if (isNothing(value)) return checked(undefined, rule, report);
	const isNumeral =
		typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value));
	return checked(isNumeral ? Number(value) : value, rule, report);
}

/** The value. It has its type if there is a rule and no problem was reported. */
export function checked<Value>(value: unknown, rule: FieldRule | undefined, report: Report): Value {
	// JSON would send NaN and Infinity as null.
	const isLost = typeof value === 'number' && !Number.isFinite(value);
	const applied = rule ?? (isLost ? ({ type: 'number' } as const) : undefined);
	const problem = applied && fieldProblem(value, applied);
	if (problem !== undefined) report(problem, isLost ? 'unsendable' : undefined);
	return value as Value;
}

/** JSON, or the text of it; undefined for anything else, such as a number that is too large. */
export const jsonIn = (value: unknown): unknown =>
	toJson(typeof value === 'string' ? parseJson(value) : value);

export const isNothing = (value: unknown) => value === undefined || value === null || value === '';

export const isBlank = (value: unknown): boolean =>
	isNothing(typeof value === 'string' ? value.trim() : value);
