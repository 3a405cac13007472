import { isDeepStrictEqual } from 'node:util';
import { endpoints } from '../../../nodes/shared/service/protocol/endpoints';
import { readAnswer } from '../../support/answers/readAnswer';
import { recordedAnswers, type Facts } from '../../support/answers/recordedAnswers';

const answers = recordedAnswers();

/** Whether a fact was read. A reason is a part of what a person reads. A call or a file may have more than the fact names. */
function isMet(name: keyof Facts, fact: unknown, read: unknown = null): boolean {
	if (name === 'reason' && typeof fact === 'string') return String(read).includes(fact);
	const isList = Array.isArray(fact) && Array.isArray(read) && fact.length === read.length;
	if (!isList || !['toolCalls', 'files'].includes(name)) return isDeepStrictEqual(read, fact);
	return fact.every((entry: object, at) => isDeepStrictEqual({ ...read[at], ...entry }, read[at]));
}

describe('recorded answers', () => {
	it.each(answers)('are read: %s', async (_, answer) => {
		const { facts, open = [] } = answer;
		const read = await readAnswer(answer);
		const names = Object.keys(facts) as Array<keyof Facts>;
		const unmet = names.filter((name) => !isMet(name, facts[name], read[name]));
		const wrong = unmet.filter((name) => !open.includes(name));
		const shown = (from: Partial<Facts>) =>
			Object.fromEntries(wrong.map((name) => [name, from[name] ?? null]));
		expect(shown(read)).toEqual(shown(facts));
		// Whoever mends one takes it off the list.
		expect([...open].sort()).toEqual([...unmet].sort());
	});

	it.each(Object.keys(endpoints))('are there for %s', (name) => {
		expect(answers.some(([, { to }]) => to === name)).toBe(true);
	});
});
