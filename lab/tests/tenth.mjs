/**
 * A plugin of Stryker: mutates only one tenth of the functions, which the environment variable `MUTATED_TENTH` names
 * (0 to 9). The ten tenths together contain all functions.
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
