import { completion, textOf } from '../../../../nodes/shared/gateway/chat/completion';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { answerOf } from '../../../support/answers';
import { fc } from '../../../support/fuzz';
import { anyBody, unusable } from './bodies';

describe('completions', () => {
	it('keeps all fields of a completion and adds the request ID of the header', () => {
		const message = { role: 'assistant', content: 'Hi' };
		const body = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: {} };
		expect(completion(answerOf(body))).toEqual(body);
		expect(completion(answerOf(body, { requestId: 'r1' }))).toEqual({ ...body, request_id: 'r1' });
	});

	it('keeps the request ID of the body beside that of the header', () => {
		const body = { request_id: 'own', choices: [{ index: 0, message: { content: 'Hi' } }] };
		const head = { headers: { 'x-request-id': 'head' }, requestId: 'head' };
		expect(completion(answerOf(body, head))).toEqual({ ...body, http_request_id: 'head' });
	});

	it('reads choices that are plain texts without an index', () => {
		const { choices } = completion(answerOf({ choices: [{ text: 'Hi' }, { text: 'Ho' }] }));
		expect(choices.map(({ index, message }) => [index, textOf(message)])).toEqual([
			[0, 'Hi'],
			[1, 'Ho'],
		]);
	});

	it.each([{}, { choices: [] }, { choices: ['a'] }, { choices: {} }, [], '', '<html>'])(
		'refuses %j because it is no completion',
		(body) => void unusable(() => completion(answerOf(body))),
	);

	it('returns a completion or throws UnusableResponse for any body', () => {
		fc.assert(
			fc.property(anyBody, (body) => {
				try {
					for (const choice of completion(answerOf(body)).choices) {
						expect(typeof choice.index).toBe('number');
						expect(typeof textOf(choice.message)).toBe('string');
					}
				} catch (error) {
					expect(error).toBeInstanceOf(UnusableResponse);
				}
			}),
			{ numRuns: 500 },
		);
	});

	it.each<[unknown, string]>([
		['Hi', 'Hi'],
		[null, ''],
		[undefined, ''],
		[[{ type: 'text', text: 'a' }, { type: 'image_url' }, null, 'x', { text: 'b' }], 'ab'],
	])('reads the content %j as the text %j', (value, text) => {
		expect(textOf({ content: value })).toBe(text);
	});
});
