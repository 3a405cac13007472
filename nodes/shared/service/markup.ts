/** Reads a few words of HTML and XML, in linear time on any text. */

// cspell:disable
/** The named entities that programs write, by their character. */
export const entityNames: Readonly<Record<string, string>> = {
	'&': 'amp',
	'"': 'quot',
	"'": 'apos',
	'<': 'lt',
	'>': 'gt',
	' ': 'nbsp',
	'·': 'middot',
	'–': 'ndash',
	'—': 'mdash',
	'…': 'hellip',
	'‘': 'lsquo',
	'’': 'rsquo',
	'“': 'ldquo',
	'”': 'rdquo',
};
// cspell:enable

const namedCharacters = new Map(
	Object.entries(entityNames).map(([character, name]) => [name, character]),
);

/** The content of the first element with this name, which is a pattern, in any namespace. */
export function elementIn(markup: string, name: string): string | undefined {
	const begin = new RegExp(`<(?:\\w+:)?${name}(?:\\s[^<>]*)?>`, 'i').exec(markup);
	if (!begin) return undefined;
	const content = markup.slice(begin.index + begin[0].length);
	const end = content.search(new RegExp(`</(?:\\w+:)?${name}[\\s>]`, 'i'));
	return end === -1 ? content : content.slice(0, end);
}

/** Elements whose content is no text for people. */
const hiddenElement = /<(script|style|svg|template)\b[^]*?(?:<\/\1[^<>]*>|$)/gi;

/** Within it, `<` and `&` stand for themselves. */
const section = /<!\[CDATA\[([^]*?)(?:\]\]>|$)/g;

/** The text of a page or an element in one line. */
export function plainTextOf(markup: string): string {
	const text = markup
		.replace(section, (_, content: string) =>
			content.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
		)
		.replace(hiddenElement, ' ')
		.replace(/<[a-z/!?][^<>]*>/gi, ' ');
	return decodeEntities(text).replace(/\s+/g, ' ').trim();
}

/** @param areEnded whether only entities with a semicolon count: in a link, `&lt` may be the name of a parameter */
export function decodeEntities(text: string, areEnded = false): string {
	return text.replace(/&(?:#(x[\da-f]{1,20}|\d{1,20})|([a-z]{1,20}));?/gi, (entity, ...groups) => {
		const [number, name] = groups as Array<string | undefined>;
		if (areEnded && !entity.endsWith(';')) return entity;
		if (number === undefined) return namedCharacters.get((name ?? '').toLowerCase()) ?? entity;
		const code = Number(/^x/i.test(number) ? `0${number}` : number);
		return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
	});
}
