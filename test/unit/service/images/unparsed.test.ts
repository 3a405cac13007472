import { imagesInPart } from '../../../../nodes/shared/service/images/unparsed';

const link = 'https://a.example/1.png';
const ended = { data: [{ url: link }] };

it.each<[string, string, object | undefined]>([
	['a link that has arrived whole', `[{"url":"${link}"},{"url":"https://a.exa`, ended],
	['no link that has not', `{"url":"${link}`, undefined],
	[
		'the link of an image with its bytes',
		`{"url":"${link}","b64_json":"${'abcd'.repeat(9)}"`,
		ended,
	],
	['no link of an error', `{"error":{"url":"${link}"`, undefined],
	['no link of a page', `<script>{"url":"${link}"}</script>`, undefined],
])('finds in a part of a response: %s', (_, text, images) => {
	expect(imagesInPart(text)).toEqual(images);
});

it.each<[string, string]>([
	['comments', ':\n\n'],
	['texts that do not end', '"a":"\\'],
	['short texts', '"x":"y",'],
	['long texts', `"x":"${'y'.repeat(30)}",`],
	['spaces', `"a"${' '.repeat(100)}`],
])('looks for images in 300,000 %s in linear time', (_, part) => {
	const start = performance.now();
	expect(imagesInPart(`{${part.repeat(300_000)}`)).toBeUndefined();
	expect(imagesInPart(part.repeat(300_000))).toBeUndefined();
	expect(performance.now() - start).toBeLessThan(5_000);
});
