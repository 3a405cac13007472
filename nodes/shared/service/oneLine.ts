/**
 * Characters that reorder the text around them, or that a model reads and a person does not see. Joiners, variation
 * selectors and the tags of a flag stay where scripts and emoji need them.
 */
const hidden = new RegExp(
	[
		// Zero width, bidirectional overrides and isolates, invisible operators, interlinear notes.
		'[\\u180e\\u200b\\u202a-\\u202e\\u2060-\\u206f\\ufff9-\\ufffb]',
		// Only a hidden message needs three joiners and selectors in a row.
		'(?:\\u200c|\\u200d|[\\ufe00-\\ufe0f]|[\\u{e0100}-\\u{e01ef}]){3,}',
		'(?<flag>\\u{1f3f4}[\\u{e0030}-\\u{e0039}\\u{e0061}-\\u{e007a}]{1,6}\\u{e007f})',
		'[\\u{e0000}-\\u{e007f}]',
	].join('|'),
	'gu',
);

/** A text of others as one visible line, since a server could write lines of its own. */
export const oneLine = (text: string): string =>
	text.replace(hidden, '$<flag>').replace(/[\s\p{Cc}]+/gu, ' ');
