interface Paragraph {
	/** The maximum number of lines. A text that does not fit ends in an ellipsis. */
	lines: number;
	/** Width of a line, in the unit of `measure`. */
	width: number;
	measure(text: string): number;
}

const ellipsis = '…';
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Breaks a text into lines between words, and inside a word that is wider than a line, such as Chinese text. */
export function wrap(text: string, { lines: maxLines, width, measure }: Paragraph): string[] {
	const fits = (line: string) => measure(line) <= width;
	const lines: string[] = [];
	let line = '';
	for (const word of text.split(/\s+/).filter(Boolean)) {
		const longer = line ? `${line} ${word}` : word;
		if (fits(longer)) {
			line = longer;
			continue;
		}
		if (line) lines.push(line);
		const pieces = fits(word) ? [word] : splitWord(word, fits);
		line = pieces.pop()!;
		lines.push(...pieces);
		// The rest of a long prompt is not visible, so it is not measured.
		if (lines.length >= maxLines) break;
	}
	if (line) lines.push(line);
	if (lines.length <= maxLines) return lines;
	return [...lines.slice(0, maxLines - 1), shorten(lines[maxLines - 1], fits)];
}

function splitWord(word: string, fits: (line: string) => boolean): string[] {
	const pieces: string[] = [''];
	for (const { segment } of graphemes.segment(word)) {
		const longer = pieces[pieces.length - 1] + segment;
		if (fits(longer)) pieces[pieces.length - 1] = longer;
		else pieces.push(segment);
	}
	return pieces;
}

function shorten(line: string, fits: (line: string) => boolean): string {
	const characters = [...graphemes.segment(line)].map(({ segment }) => segment);
	while (characters.length > 0 && !fits(characters.join('') + ellipsis)) characters.pop();
	return characters.join('').trimEnd() + ellipsis;
}
