import type { Message, MessageContent } from '../../../../nodes/LmChatModelGateway/aiNodeSdk';
import { toServiceMessages } from '../../../../nodes/LmChatModelGateway/messages';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';

const text = (words: string): MessageContent => ({ type: 'text', text: words });
const sent = (role: Message['role'], ...content: MessageContent[]) =>
	toServiceMessages([{ role, content }]);
const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

describe('messages to the service', () => {
	it.each(['system', 'user'] as const)('sends text of the %s as a text', (role) => {
		expect(sent(role, text('Be'), text('kind'))).toEqual([{ role, content: 'Be\nkind' }]);
		expect(sent(role)).toEqual([{ role, content: '' }]);
	});

	it('joins the pieces of a streamed answer to one text', () => {
		expect(sent('assistant', text('Hel'), text('lo'))).toEqual([
			{ role: 'assistant', content: 'Hello' },
		]);
	});

	it('keeps the words and tool calls of an answer, and leaves out what the service has no field for', () => {
		const answer = sent(
			'assistant',
			{ type: 'reasoning' },
			text('Wait.'),
			{ type: 'invalid-tool-call' },
			{ type: 'citation' },
			{ type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1}' },
		);
		expect(answer).toEqual([
			{
				role: 'assistant',
				content: 'Wait.',
				tool_calls: [
					{ id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
				],
			},
		]);
	});

	it.each<[string, unknown, unknown]>([
		['a text', 'done', 'done'],
		['an object', { id: 7 }, '{"id":7}'],
		['a list', [1, 2], '[1,2]'],
		['an empty list', [], '[]'],
		['nothing', undefined, ''],
		['texts', [text('a'), text('b')], 'a\nb'],
	])('sends the result of a tool: %s', (_, result, content) => {
		expect(sent('tool', { type: 'tool-result', toolCallId: 'c1', result })).toEqual([
			{ role: 'tool', tool_call_id: 'c1', content },
		]);
	});

	it.each<[string, MessageContent, object]>([
		[
			'bytes',
			{ type: 'file', mediaType: 'image/webp', data: new Uint8Array([1, 2, 3]) },
			{ url: 'data:image/webp;base64,AQID' },
		],
		[
			'base64',
			{ type: 'file', mediaType: 'image/png', data: 'AQID' },
			{ url: 'data:image/png;base64,AQID' },
		],
		[
			'base64 of a type that only its bytes tell',
			{ type: 'file', data: png.toString('base64') },
			{ url: `data:image/png;base64,${png.toString('base64')}` },
		],
		[
			'a data URL in place of base64',
			{ type: 'file', data: 'data:image/png;base64,AQID' },
			{ url: 'data:image/png;base64,AQID' },
		],
		[
			'a link with its detail',
			{ type: 'file', providerMetadata: { url: 'https://example.com/a.png', detail: 'high' } },
			{ url: 'https://example.com/a.png', detail: 'high' },
		],
	])('sends a picture as %s', (_, picture, image_url) => {
		expect(sent('user', text('Look'), picture)).toEqual([
			{
				role: 'user',
				content: [
					{ type: 'text', text: 'Look' },
					{ type: 'image_url', image_url },
				],
			},
		]);
	});

	it.each<[string, MessageContent]>([
		['application/pdf', { type: 'file', mediaType: 'application/pdf', data: 'AQID' }],
		['its type is not known', { type: 'file', data: 'AQID' }],
	])('refuses a file that is no picture before anything is sent (%s)', (what, file) => {
		expect(() => sent('user', file)).toThrow(GatewayError);
		expect(() => sent('user', file)).toThrow(what);
	});
});
