/**
 * Splits a text into what is counted and streamed: a token is a word with the space before it, or six
 * characters of a longer word. The tokens of a text, joined, are the text.
 */
export function tokensOf(text: string): string[] {
	return text.match(/\s*\S{1,6}|\s+$/gu) ?? [];
}

/** What a picture counts for, wherever tokens are billed. */
export const imageTokens = 256;
