import { textMessage } from '../../../../nodes/shared/gateway/chat/message';
import { unstreamedMessage } from '../../../../nodes/shared/gateway/chat/streamedMessage';
import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { clock } from '../../../../nodes/shared/n8n/client/httpClient';
import { answerOf } from '../../../support/data/answers';

const key = 'sk-0123456789abcdef';
const streamOf = (events: object[]) =>
	events
		.map(
			(event) =>
				`event: ${'type' in event ? String(event.type) : ''}\ndata: ${JSON.stringify(event)}\n\n`,
		)
		.join('');
const gateway = { redaction: new Redaction(key), runtime: { clock } };
const read = async (events: object[]) =>
	textMessage(await unstreamedMessage(answerOf(streamOf(events)), gateway));

const start = {
	type: 'message_start',
	message: {
		id: 'm1',
		model: 'm',
		content: [],
		stop_reason: null,
		usage: { input_tokens: 3, output_tokens: 1 },
	},
};
const begin = (index: number, content_block: object) => ({
	type: 'content_block_start',
	index,
	content_block,
});
const delta = (index: number, given: object) => ({
	type: 'content_block_delta',
	index,
	delta: given,
});
const words = (text: string) => delta(0, { type: 'text_delta', text });
const end = {
	type: 'message_delta',
	delta: { stop_reason: 'end_turn' },
	usage: { output_tokens: 9 },
};

describe('native messages that are streamed without being asked', () => {
	it('assembles the text, the fields and the usage', async () => {
		const events = [
			start,
			{ type: 'ping' },
			begin(0, { type: 'text', text: '' }),
			words('Hel'),
			words('lo'),
			end,
			{ type: 'message_stop' },
		];
		expect(await read(events)).toMatchObject({
			...{ text: 'Hello', otherContent: {} },
			fields: {
				id: 'm1',
				model: 'm',
				stop_reason: 'end_turn',
				usage: { input_tokens: 3, output_tokens: 9 },
			},
		});
	});

	it('assembles a tool call from the pieces of its input', async () => {
		const call = { type: 'tool_use', id: 'use_1', name: 'look' };
		const pieces = ['{"at"', ':1}'].map((partial_json) =>
			delta(1, { type: 'input_json_delta', partial_json }),
		);
		const events = [start, words('I look.'), begin(1, { ...call, input: {} }), ...pieces, end];
		expect(await read(events)).toMatchObject({
			text: 'I look.',
			otherContent: {
				content: [
					{ type: 'text', text: 'I look.' },
					{ ...call, input: { at: 1 } },
				],
			},
		});
	});

	it.each<[string, object[], string]>([
		[
			'an error',
			[{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
			'broke off with an error: Overloaded',
		],
		['its connection', [], 'broke off: the stream ended too early'],
	])('keeps the text of a stream that ends with %s', async (_, last, message) => {
		await expect(read([start, words('Hel'), ...last])).rejects.toMatchObject({
			message,
			partialText: 'Hel',
		});
	});

	it('reads a stream in the form of chat completions', async () => {
		const chunk = { choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: 'stop' }] };
		expect(await read([chunk])).toMatchObject({ text: 'Hello', finish_reason: 'stop' });
	});

	it('redacts a key that is split over several events', async () => {
		const { text } = await read([start, words(key.slice(0, 5)), words(key.slice(5)), end]);
		expect(text).toBe('***');
	});

	it('says whether it has redacted the key', async () => {
		const isRedacted = async (text: string, more: object = {}) => {
			const response = { ...answerOf(streamOf([start, words(text), end])), ...more };
			return (await unstreamedMessage(response, gateway)).isRedacted ?? false;
		};
		expect(await isRedacted(key)).toBe(true);
		expect(await isRedacted('Hello')).toBe(false);
		expect(await isRedacted('Hello', { isRedacted: true })).toBe(true);
	});

	it('returns a response in JSON as it is, whatever its text says', async () => {
		const response = { ...answerOf({ content: [] }), text: streamOf([start, words('Hello'), end]) };
		expect(await unstreamedMessage(response, gateway)).toBe(response);
	});

	it('describes a response that is no stream', async () => {
		const page = answerOf('<html>Login</html>');
		await expect(unstreamedMessage(page, gateway)).rejects.toThrow('is a web page instead of JSON');
	});
});
