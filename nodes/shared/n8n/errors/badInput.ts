import { excerpt } from '../../gateway/json';
import { GatewayError } from '../../gateway/errors/gatewayError';

/** The first ten of many, and more while they are short: a list that fills the screen is not read. */
export function joinFirst(texts: string[], short = 0): string {
	let count = 10;
	while (count < texts.length && texts.slice(0, count + 1).join('; ').length <= short) count++;
	const more = texts.length > count ? `; and ${texts.length - count} more` : '';
	return texts.slice(0, count).join('; ') + more;
}

/** In characters: as much as the problems of one order take, so that all are mended at once. */
const maxProblemsLength = 900;

/** Input that would be refused, found before anything is paid. */
export interface Problem {
	/** The field as the editor shows it. */
	field: string;
	/** Continues the field's name: "must be …". */
	problem: string;
}

/** @param work whether it costs anything: nobody else is to be told that nothing was billed */
export function badInput(problems: Problem[], { paid } = { paid: true }): GatewayError {
	const named = problems.map(({ field, problem }) => `${field} ${excerpt(problem, 1000)}`);
	return new GatewayError({
		message: joinFirst(named, maxProblemsLength),
		remedies: [{ about: 'badInput', isFree: !paid }],
		reach: 'none',
		status: 0,
		billed: 'no',
		retry_can_help: false,
	});
}
