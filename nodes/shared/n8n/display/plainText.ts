import { oneLine } from '../../service/oneLine';

// How a text that others may have written is shown as text. n8n's editor renders hints, the description of an error and
// its notifications as HTML in which links and images work. Its chat renders Markdown.

/**
 * A text for a place that n8n renders as HTML, or as Markdown when the execution streams to a chat. Only what could begin
 * a tag, an entity, a link or an image is written as an entity, so that what n8n stores stays readable.
 */
export const asHtml = (text: string): string =>
	text
		.replace(/&(?=#|\w{1,40};)/g, '&amp;')
		.replaceAll('<', '&lt;')
		.replace(/\](?=[([])/g, '&#93;');

/**
 * A text for the message of an error, which n8n shows as text in its panels and as HTML in its notifications. An entity
 * would be wrong in the first, and a tag in the second, so no tag begins with `<`.
 */
export const withoutTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, '‹');

/** All of ASCII but a hyphen or an underscore within a word, which means nothing in Markdown. */
const punctuation = /[!-,./:-@[-^`{-~]|(?<![\p{L}\p{N}])[-_]|[-_](?![\p{L}\p{N}])/gu;

/** A text for the middle of a line of Markdown: nothing in it is a link, not even a bare address. */
export const asMarkdown = (text: string): string => oneLine(text).replace(punctuation, '\\$&');
