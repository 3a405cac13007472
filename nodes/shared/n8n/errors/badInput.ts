import { GatewayError } from '../../service/errors/gatewayError';
import { excerpt } from '../../service/json';

/** Joins the first ten texts, and more of them up to `maxLength` characters. */
export function joinFirst(texts: string[], maxLength = 0): string {
	let count = 10;
	while (count < texts.length && texts.slice(0, count + 1).join('; ').length <= maxLength) count++;
	const more = texts.length > count ? `; and ${texts.length - count} more` : '';
	return texts.slice(0, count).join('; ') + more;
}

/** Characters. Enough for all problems of one request, so that the user can correct them at once. */
const maxProblemsLength = 900;

/** Input that the service would refuse, found before anything is charged. */
export interface Problem {
	field: string;
	/** Continues the field's name: "must be …". */
	problem: string;
}

/** @param paid whether the operation costs money, so that the advice mentions billing */
export function badInput(problems: Problem[], { paid } = { paid: true }): GatewayError {
	const lines = problems.map(({ field, problem }) => `${field} ${excerpt(problem, 1000)}`);
	return new GatewayError({
		message: joinFirst(lines, maxProblemsLength),
		kind: 'badInput',
		...(!paid && { cost: 'read' }),
	});
}
