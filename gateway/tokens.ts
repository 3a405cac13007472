/**
 * Splits a text into tokens, which are counted and streamed. A token is a word with the space before it, or six
 * characters of a longer word. The joined tokens are the text.
 */
export function tokensOf(text: string): string[] {
	return text.match(/\s*\S{1,6}|\s+$/gu) ?? [];
}

/** The tokens of one image, for models that are charged by tokens. */
export const imageTokens = 256;
