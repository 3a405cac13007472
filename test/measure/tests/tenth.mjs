/**
 * A plugin of Stryker: mutates the functions of one tenth only, which the environment variable `MUTATED_TENTH` names
 * (0 to 9). Together, the ten are all functions.
 */
import { createHash } from 'node:crypto';

const { MUTATED_TENTH: mutated = '' } = process.env;

function tenthOf({ type, id, key, loc: { start, end } }) {
	const name = [type, (id ?? key)?.name, start.line, end.line, end.column].join(' ');
	return createHash('sha256').update(name).digest()[0] % 10;
}

function shouldIgnore(path) {
	const isOutermost = path.isFunction() && !path.getFunctionParent();
	return isOutermost && mutated !== '' && tenthOf(path.node) !== Number(mutated)
		? 'Another tenth'
		: undefined;
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'tenth', value: { shouldIgnore } }];
