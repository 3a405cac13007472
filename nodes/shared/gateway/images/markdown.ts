/** The addresses of all images in a markdown text, in their order; in one pass, however long it is. */
export function markdownImages(text: string): string[] {
	/** Open square brackets: whether each begins an image. */
	const names: boolean[] = [];
	/** Open round brackets: where the address of an image begins in them. */
	const addresses: Array<number | undefined> = [];
	const found: Array<{ start: number; end: number }> = [];
	const close = (start: number | undefined, end: number) => {
		if (start !== undefined && end > start) found.push({ start, end });
	};
	let angle = -1;
	for (const { 0: token, index } of text.matchAll(/\\[[\]]|!\[|\[|\]\(\s*|\]|\(|\)|\s/g)) {
		if (token.startsWith('\\')) continue;
		if (/\s$/.test(token))
			for (const start of addresses.splice(0))
				close(start, token.startsWith(']') ? index + 2 : index);
		if (token.endsWith('[')) names.push(token === '![');
		else if (token === '(') addresses.push(undefined);
		else if (token === ')') close(addresses.pop(), index);
		else if (token.startsWith(']')) {
			const isImage = names.pop() ?? false;
			const start = index + token.length;
			if (token === ']') continue;
			const isAngled = isImage && text[start] === '<';
			addresses.push(isImage && !isAngled ? start : undefined);
			if (!isAngled) continue;
			if (angle < start) angle = text.indexOf('>', start);
			if (angle === -1) angle = Infinity;
			if (angle !== Infinity) close(start + 1, angle);
		}
	}
	return found.sort((a, b) => a.start - b.start).map(({ start, end }) => text.slice(start, end));
}
