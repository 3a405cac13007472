// Spreadsheets, databases and forms write values in their own way. A spelling that can mean only one thing is accepted.

const booleans: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
	...([true, 'true', 'yes', 1, '1'] as const).map((value) => [value, true] as const),
	...([false, 'false', 'no', 0, '0'] as const).map((value) => [value, false] as const),
]);

/** True or false, as Google Sheets ("TRUE"), a form ("yes") or a database (1) writes it; else undefined. */
export const asBoolean = (value: unknown): boolean | undefined => booleans.get(comparable(value));

/** For a switch that guards money: a 1 could be any number, and a "yes" the answer to something else. */
export function asTrueOrFalse(value: unknown): boolean | undefined {
	const known = asKnown(value, [true, false, 'true', 'false']);
	return known === undefined ? undefined : String(known) === 'true';
}

/** The known value that differs from the given one only in case and in the spaces around it; else undefined. */
export const asKnown = <Value>(value: unknown, known: readonly Value[]): Value | undefined =>
	known.find((each) => comparable(each) === comparable(value));

const comparable = (value: unknown) =>
	typeof value === 'string' ? value.trim().toLowerCase() : value;
