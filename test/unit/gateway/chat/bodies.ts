import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { fc } from '../../../support/data/fuzz';

/** Runs work that has to find a response unusable, and returns its error. */
export function unusable(work: () => unknown): UnusableResponse {
	try {
		work();
	} catch (error) {
		expect(error).toBeInstanceOf(UnusableResponse);
		return error as UnusableResponse;
	}
	throw new Error('it was usable');
}

/** Bodies of completions, of chunks, and of neither. */
export const anyBody = (() => {
	const names = fc.constantFrom(
		...['choices', 'index', 'delta', 'message', 'content', 'text', 'finish_reason', 'usage'],
		...['tool_calls', 'function_call', 'function', 'arguments', 'error', 'code', 'id', 'object'],
		...['__proto__', 'constructor', 'toString', 'a.b', 'length', 'role'],
	);
	const leaves = fc.constantFrom(null, true, false, 0, 1, -1, 0.5, 1e300, '', 'a', '{"a":', 'stop');
	const { json } = fc.letrec<{ json: unknown; object: unknown; array: unknown }>((tie) => ({
		json: fc.oneof({ maxDepth: 5 }, leaves, tie('object'), tie('array')),
		object: fc.dictionary(names, tie('json'), { maxKeys: 5 }),
		array: fc.array(tie('json'), { maxLength: 3 }),
	}));
	const delta = fc.oneof(fc.dictionary(names, json, { maxKeys: 4 }), json);
	const choice = fc.record(
		{ index: json, delta, message: delta, finish_reason: json, text: json },
		{ requiredKeys: [] },
	);
	const body = fc.record(
		{ choices: fc.oneof(fc.array(fc.oneof(choice, json), { maxLength: 3 }), json), error: json },
		{ requiredKeys: [] },
	);
	return fc.oneof(body, json);
})();
