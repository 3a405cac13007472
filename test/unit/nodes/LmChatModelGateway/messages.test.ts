import type { Message, MessageContent } from '../../../../nodes/LmChatModelGateway/aiNodeSdk';
import { toServiceMessages } from '../../../../nodes/LmChatModelGateway/messages';
import { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';

const text = (words: string): MessageContent => ({ type: 'text', text: words });
const sent = (role: Message['role'], ...content: MessageContent[]) =>
	toServiceMessages([{ role, content }]);
const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

describe('messages to the service', () => {
	it('keeps the text and tool calls of an answer, and drops blocks that the service has no field for', () => {
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
		['an object with half an emoji', { id: '\ud83d' }, '{"id":"\ufffd"}'],
		['undefined', undefined, ''],
		['a list of text blocks', [text('a'), text('b')], 'a\nb'],
	])('sends a tool result as text when it is %s', (_, result, content) => {
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
			'base64 without a media type',
			{ type: 'file', data: png.toString('base64') },
			{ url: `data:image/png;base64,${png.toString('base64')}` },
		],
		[
			'a link with its detail',
			{ type: 'file', providerMetadata: { url: 'https://example.com/a.png', detail: 'high' } },
			{ url: 'https://example.com/a.png', detail: 'high' },
		],
	])('sends an image given as %s', (_, image, image_url) => {
		expect(sent('user', text('Look'), image)).toEqual([
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
	])('refuses a file that is not an image, and names the reason: %s', (what, file) => {
		expect(() => sent('user', file)).toThrow(GatewayError);
		expect(() => sent('user', file)).toThrow(what);
	});
});
