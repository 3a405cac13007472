// Spreadsheets, databases and forms write values in their own way. A spelling that can mean only one thing is accepted.

/** True or false, as Google Sheets ("TRUE"), a form ("yes") or a database (1) writes it; else undefined. */
export const asBoolean = (value: unknown): boolean | undefined =>
	asEither(value, [true, 'true', 'yes', 1, '1'], [false, 'false', 'no', 0, '0']);

/** For a switch that guards money: a 1 could be any number, and a "yes" the answer to something else. */
export const asTrueOrFalse = (value: unknown): boolean | undefined =>
	asEither(value, [true, 'true'], [false, 'false']);

function asEither(value: unknown, yes: unknown[], no: unknown[]): boolean | undefined {
	const given = comparable(value);
	if (yes.includes(given)) return true;
	return no.includes(given) ? false : undefined;
}

/** The known value that differs from the given one only in case and in the spaces around it; else undefined. */
export const asKnown = <Value>(value: unknown, known: readonly Value[]): Value | undefined =>
	known.find((each) => comparable(each) === comparable(value));

const comparable = (value: unknown) =>
	typeof value === 'string' ? value.trim().toLowerCase() : value;
