import { otherContentOf, textToShow } from '../../../../nodes/shared/service/chat/message';

const text = { type: 'text', text: 'Hello' };
const image = { type: 'image_url', image_url: { url: 'https://a.example/1.png' } };
const call = { id: 'call_1', function: { name: 'f', arguments: '{}' } };
const others = {
	tool_calls: [call],
	function_call: call.function,
	images: [image],
	audio: { id: 'a' },
	refusal: 'I will not',
};

it.each<[string, object, object]>([
	['all parts of a text with an image', { content: [text, image] }, { content: [text, image] }],
	['calls, images, a sound and a refusal', { content: 'Hello', ...others }, others],
])('keeps what is beside the text of a message: %s', (_, message, kept) => {
	expect(otherContentOf({ ...message })).toEqual(kept);
});

it.each<[string, object, string]>([
	['JSON that a service has parsed', { content: { city: 'Bonn' } }, '{"city":"Bonn"}'],
	['nothing of an image alone', { content: image }, ''],
])('shows as the text of a message: %s', (_, message, shown) => {
	expect(textToShow({ ...message })).toBe(shown);
});
