import { excerpt, isObject } from '../../service/json';
import { isStray } from './accidentalText';
import type { ItemParameters } from './itemParameters';

/**
 * Reports the parts of an expression that gave nothing: n8n joins them as empty texts, and the rest would be ordered.
 * A part that gives null or an empty text passes, because a user writes `?? ''` for what may be missing. An expression
 * of one part gives no text at all, which is checked where its value is read.
 * @param parameter as written; a resource locator has its expression in its value
 */
export function reportParts(
	parameter: unknown,
	{ context, item, purpose }: ItemParameters,
	report: (problem: string) => void,
): void {
	// A file that is paid already is delivered, whatever it is called.
	const written = isObject(parameter) ? parameter.value : parameter;
	if (!purpose.isPaid || typeof written !== 'string' || !written.startsWith('=')) return;
	const values = partsOf(written.slice(1)).map((code) => {
		const part = `{{${code}}}`;
		return { code: code.trim(), part, value: context.evaluateExpression(part, item) };
	});
	const missing = values.filter(({ value }) => value === undefined);
	const stray = values.find(
		({ value }) => purpose.isOrder && typeof value === 'string' && isStray(value),
	);
	if (missing.length > 0) {
		const [{ code }] = missing;
		const shown = missing.slice(0, 3).map((one) => excerpt(one.part, 80));
		// JavaScript refuses some operators beside `??` without parentheses.
		const operand = /^[\w$.?[\]'"()-]+$/.test(code) ? code : `(${code})`;
		const fallback = excerpt(`{{ ${operand} ?? '' }}`, 90);
		report(
			`has nothing for ${shown.join(' and ')}: correct it, or write ${fallback} where it may be missing`,
		);
	} else if (stray) {
		report(
			`has ${String(stray.value).trim()} for ${excerpt(stray.part, 80)}: check where it comes from`,
		);
	}
}

/** The code of the parts in double braces. None if there is nothing beside a single one. */
function partsOf(expression: string): string[] {
	const [before, ...rest] = expression.split(/(?<!\\)\{\{/);
	const pieces = rest.map((piece) => piece.split(/(?<!\\)\}\}/, 2));
	const isWhole = pieces.length === 1 && (before + (pieces[0][1] ?? '')).trim() === '';
	return isWhole ? [] : pieces.map(([code]) => code);
}
