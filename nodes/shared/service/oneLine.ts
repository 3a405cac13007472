/**
 * Characters that reorder the text around them, or that nobody sees although a model reads them. What scripts and emoji
 * need stays: a joiner, a variation selector, the tags of a flag.
 */
const hidden = new RegExp(
	[
		// Zero width, bidirectional overrides and isolates, invisible operators, interlinear notes.
		'[\\u180e\\u200b\\u202a-\\u202e\\u2060-\\u206f\\ufff9-\\ufffb]',
		// No character needs three joiners and selectors in a row, but a message that is hidden in a text does.
		'(?:\\u200c|\\u200d|[\\ufe00-\\ufe0f]|[\\u{e0100}-\\u{e01ef}]){3,}',
		'(?<flag>\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{1,6}\\u{e007f})',
		'[\\u{e0000}-\\u{e007f}]',
	].join('|'),
	'gu',
);

/**
 * A text of others as one visible line: without line breaks and control characters, with which a server could write
 * lines of its own, and without hidden characters.
 */
export const oneLine = (text: string): string =>
	text.replace(hidden, '$<flag>').replace(/[\s\p{Cc}]+/gu, ' ');
