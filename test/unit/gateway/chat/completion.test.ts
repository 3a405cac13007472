import {
	completion,
	otherContentOf,
	textOf,
	textToShow,
} from '../../../../nodes/shared/gateway/chat/completion';
import type { JsonObject } from '../../../../nodes/shared/gateway/json';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { answerOf } from '../../../support/data/answers';
import { fc } from '../../../support/data/fuzz';
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

	const hello = { message: { role: 'assistant', content: 'Hel' }, finish_reason: 'stop' };
	it('keeps the text of a completion with an error in its message', () => {
		const body = { choices: [{ message: { content: 'Hel', error: 'Overloaded' } }] };
		expect(unusable(() => completion(answerOf(body)))).toMatchObject({
			...{ message: 'broke off with an error: Overloaded', partialText: 'Hel' },
			error: expect.anything(),
		});
	});

	it.each([null, '', {}, [], 0, false, 'no error', { code: 0, message: 'success' }])(
		'does not take %j for an error',
		(error) => {
			const body = { error, choices: [{ ...hello, error }] };
			expect(completion(answerOf(body)).choices).toHaveLength(1);
		},
	);

	it.each<[string, JsonObject]>([
		['beside the content', { content: null, refusal: 'I cannot.' }],
		['in the content', { content: [{ type: 'refusal', refusal: 'I cannot.' }] }],
	])('shows the words of a refusal %s, which are not the text', (_, message) => {
		expect(textOf(message)).toBe('');
		expect(textToShow(message)).toBe('I cannot.');
		expect(otherContentOf(message)).toMatchObject({ refusal: 'I cannot.' });
	});

	it('keeps what a message has besides its text', () => {
		const image = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } };
		const content = [{ type: 'text', text: 'Hi' }, image];
		expect(otherContentOf({ content })).toEqual({ content });
		expect(otherContentOf({ content: 'Hi', images: [image] })).toEqual({ images: [image] });
		expect(otherContentOf({ content: content.slice(0, 1), refusal: '' })).toEqual({});
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
		[[{ type: 'text', text: 'a' }, { type: 'image_url' }, null, 'x', { text: 'b' }], 'axb'],
		[{ type: 'text', text: 'a' }, 'a'],
	])('reads the content %j as the text %j', (value, text) => {
		expect(textOf({ content: value })).toBe(text);
	});
});
