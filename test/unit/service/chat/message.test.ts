import { otherContentOf, textToShow } from '../../../../nodes/shared/service/chat/message';

const text = { type: 'text', text: 'Hello' };
const image = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } };
const call = { id: 'call_1', function: { name: 'f', arguments: '{}' } };

it.each<[string, object, object]>([
	['nothing of a text', { role: 'assistant', content: 'Hello' }, {}],
	['nothing of texts', { content: [text, text] }, {}],
	['all parts of a text with an image', { content: [text, image] }, { content: [text, image] }],
	[
		'calls and images',
		{ tool_calls: [call], images: [image] },
		{ tool_calls: [call], images: [image] },
	],
	['a call of old', { function_call: call.function }, { function_call: call.function }],
	['a sound', { content: null, audio: { id: 'a' } }, { audio: { id: 'a' } }],
	['a refusal', { content: '', refusal: 'I will not' }, { refusal: 'I will not' }],
	[
		'a refusal among the parts',
		{ content: [{ type: 'refusal', refusal: 'I will not' }] },
		{ content: [{ type: 'refusal', refusal: 'I will not' }], refusal: 'I will not' },
	],
])('keeps what is beside the text of a message: %s', (_, message, kept) => {
	expect(otherContentOf({ ...message })).toEqual(kept);
});

it.each<[string, object, string]>([
	['the refusal of one without a text', { content: ' ', refusal: 'I will not' }, 'I will not'],
	['JSON that a service has parsed', { content: { city: 'Bonn' } }, '{"city":"Bonn"}'],
	['nothing of an image alone', { content: image }, ''],
])('shows as the text of a message: %s', (_, message, shown) => {
	expect(textToShow({ ...message })).toBe(shown);
});
