/** Maximum number of brackets open at the same time: no text for people has as many. */
const maxOpenBrackets = 1_000;

/** The URLs of all images in a Markdown text, in order. One pass, so that long texts take linear time. */
export function markdownImages(markdown: string): string[] {
	const first = markdown.indexOf('![');
	if (first === -1) return [];
	const text = markdown.slice(first);
	/** For each open square bracket, whether it begins an image. */
	const imageBrackets: boolean[] = [];
	/** For each open round bracket, where the URL of an image begins in it; undefined when it holds none. */
	const addressStarts: Array<number | undefined> = [];
	const addresses: Array<{ start: number; end: number }> = [];
	const close = (start: number | undefined, end: number) => {
		if (start !== undefined && end > start) addresses.push({ start, end });
	};
	let closingAngle = -1;
	for (const { 0: token, index } of text.matchAll(/\\[[\]]|!\[|\[|\]\(\s*|\]|\(|\)|\s+/g)) {
		if (imageBrackets.length > maxOpenBrackets || addressStarts.length > maxOpenBrackets) break;
		if (token.startsWith('\\')) continue;
		if (/\s$/.test(token))
			for (const start of addressStarts.splice(0))
				close(start, token.startsWith(']') ? index + 2 : index);
		if (token.endsWith('[')) imageBrackets.push(token === '![');
		else if (token === '(') addressStarts.push(undefined);
		else if (token === ')') close(addressStarts.pop(), index);
		else if (token.startsWith(']')) {
			const isImage = imageBrackets.pop() ?? false;
			const start = index + token.length;
			if (token === ']') continue;
			const isAngled = isImage && text[start] === '<';
			addressStarts.push(isImage && !isAngled ? start : undefined);
			if (!isAngled) continue;
			if (closingAngle < start) closingAngle = text.indexOf('>', start);
			if (closingAngle === -1) closingAngle = Infinity;
			if (closingAngle !== Infinity) close(start + 1, closingAngle);
		}
	}
	return addresses
		.sort((a, b) => a.start - b.start)
		.map(({ start, end }) => text.slice(start, end));
}
