import { textMessage } from '../../../../nodes/shared/gateway/chat/message';
import { UnusableResponse } from '../../../../nodes/shared/gateway/client/response';
import { answerOf } from '../../../support/data/answers';
import { unusable } from './bodies';

const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
const text = { type: 'text', text: 'Hello' };
const toolUse = { type: 'tool_use', id: 'use_1', name: 'look', input: {} };
const chat = (message: object, finish_reason?: string | null) => ({
	choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
});

describe('responses of the messages endpoint', () => {
	it.each<[string, object]>([
		['in several parts', { content: [{ type: 'text', text: 'Hel' }, 'lo'] }],
		['in the form of a chat completion, in parts', chat({ content: [text] })],
		['under the name text', { text: 'Hello' }],
		['as the output', { output: 'Hello' }],
	])('reads the text of a message %s', (_, body) => {
		expect(textMessage(answerOf(body))).toMatchObject({ text: 'Hello', otherContent: {} });
	});

	it.each<[string, object, object]>([
		[
			'in the form of a chat completion',
			chat({ content: null, tool_calls: [call] }),
			{ tool_calls: [call] },
		],
		[
			'in the older form of a chat completion',
			chat({ content: null, function_call: call.function }),
			{ function_call: call.function },
		],
		['as a part', { content: [toolUse] }, { content: [toolUse] }],
		['beside its content', { content: null, tool_calls: [call] }, { tool_calls: [call] }],
	])('reads a tool call without a text: %s', (_, body, otherContent) => {
		expect(textMessage(answerOf(body))).toMatchObject({ text: '', otherContent });
	});

	it('keeps all parts of a message when one of them is no text', () => {
		const content = [text, toolUse];
		expect(textMessage(answerOf({ content }))).toMatchObject({
			text: 'Hello',
			otherContent: { content },
		});
	});

	it.each(['length', 'content_filter', 'stop'])(
		'returns the finish_reason of a message: %s',
		(finish_reason) => {
			const message = textMessage(answerOf(chat({ content: null }, finish_reason)));
			expect(message).toMatchObject({ text: '', finish_reason });
			const whole = textMessage(answerOf({ ...chat({ content: 'Hel' }), finish_reason }));
			expect(whole).toMatchObject({ text: 'Hel', finish_reason });
		},
	);

	it.each<[string, object]>([
		['in the form of a chat completion', chat({ content: null, refusal: 'I cannot.' })],
		['as a part', { content: [{ type: 'refusal', refusal: 'I cannot.' }] }],
	])('reads a refusal %s', (_, body) => {
		const message = textMessage(answerOf(body));
		expect(message).toMatchObject({ text: '', otherContent: { refusal: 'I cannot.' } });
	});

	it.each<[string, object]>([
		['beside its content', { content: [text], error: { message: 'Overloaded' } }],
		['in its choice', { choices: [{ message: { content: 'Hello' }, error: 'Overloaded' }] }],
	])('keeps the text of a message with an error %s', (_, body) => {
		const error = unusable(() => textMessage(answerOf(body)));
		expect(error.message).toBe('broke off with an error: Overloaded');
		expect(error.partialText).toBe('Hello');
	});

	it('accepts a message that stops before its first word', () => {
		const body = { content: null, stop_reason: 'refusal' };
		expect(textMessage(answerOf(body))).toMatchObject({ text: '', fields: body });
	});

	it.each([
		{},
		{ content: null },
		{ content: {} },
		{ content: 7, stop_reason: 'end_turn' },
		{ stop_reason: 'end_turn' },
		{ finish_reason: 'error', error: { message: 'no' } },
		{ choices: [] },
		chat({}, 'stop'),
		chat({ content: null }, null),
		[],
		'Hello',
	])('refuses %j because it is no message', (body) => {
		expect(() => textMessage(answerOf(body))).toThrow(UnusableResponse);
	});
});
