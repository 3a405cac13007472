import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

/** Targets of links and pictures that are written inline, as a definition, or as HTML. */
const targets =
	/\]\(\s*<?([^\s()<>]+)|^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]+)|\b(?:href|src)="([^"]+)"/gm;

/** The targets of the links and pictures of a page, in their order. Links in code do not count. */
export function linksOf(markdown: string): string[] {
	const prose = withoutFences(markdown).replace(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, '');
	return [...prose.matchAll(targets)].map(([, inline, defined, html]) => inline ?? defined ?? html);
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(markdown: string): string[] {
	const seen = new Map<string, number>();
	return [...withoutFences(markdown).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, heading]) => {
		const anchor = heading
			.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
			.replaceAll(' ', '-');
		const count = seen.get(anchor) ?? 0;
		seen.set(anchor, count + 1);
		return count === 0 ? anchor : `${anchor}-${count}`;
	});
}

export function altTextsOf(markdown: string): string[] {
	return [...withoutFences(markdown).matchAll(/!\[([^\]]*)\]/g)].map(([, text]) => text.trim());
}

/** The links of a page to missing files or headings of this repository. Web addresses are not checked. */
export function brokenLinks(page: string): string[] {
	return linksOf(readFileSync(page, 'utf8')).filter((link) => {
		if (/^[a-z][a-z\d+.-]*:/i.test(link)) return false;
		const [place, anchor] = link.split('#');
		const file = place === '' ? page : path.resolve(path.dirname(page), decodeURIComponent(place));
		if (!existsSync(file)) return true;
		if (anchor === undefined) return false;
		return !statSync(file).isFile() || !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
	});
}

/** A table of Markdown, formatted as prettier does it. @param rows the first is the header */
export function aligned([header, ...lines]: string[][]): string {
	const widths = header.map((_, column) =>
		Math.max(...[header, ...lines].map((line) => line[column].length)),
	);
	const row = (cells: string[]) =>
		`| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
	return [row(header), row(widths.map((width) => '-'.repeat(width))), ...lines.map(row)].join('\n');
}

/**
 * Replaces what is between the comments that name a section, such as `<!-- load -->` and `<!-- end of load -->`.
 * @throws Error when the page has no such comments
 */
export function withSection(page: string, section: string, content: string): string {
	const [begin, end] = [`<!-- ${section} -->`, `<!-- end of ${section} -->`];
	const [from, to] = [page.indexOf(begin), page.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`The page has no place for ${section}`);
	return `${page.slice(0, from)}${begin}\n\n${content}\n\n${page.slice(to)}`;
}

function withoutFences(markdown: string): string {
	return markdown.replace(/^ *(```+|~~~+)[^\n]*\n[\s\S]*?^ *\1[^\n]*$/gm, '');
}
