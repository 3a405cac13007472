import { oneLine } from '../../service/oneLine';

// How texts that others may have written are shown as text.

/**
 * For hints and the description of an error, which n8n renders as HTML with working links and images, or as Markdown when
 * the execution streams to a chat. Only the beginning of a tag, an entity, a link or an image is written as an entity, so
 * that the stored text stays readable.
 */
export const asHtml = (text: string): string =>
	text
		.replace(/&(?=#|\w{1,40};)/g, '&amp;')
		.replaceAll('<', '&lt;')
		.replace(/\](?=[([])/g, '&#93;');

/**
 * For the message of an error. n8n shows it as text in its panels, where an entity would be wrong, and as HTML in its
 * notifications.
 */
export const withoutTags = (text: string): string => text.replace(/<(?=[a-z/!?])/gi, '‹');

/** A hyphen or an underscore within a word means nothing in Markdown. */
const punctuation = /[!-,./:-@[-^`{-~]|(?<![\p{L}\p{N}])[-_]|[-_](?![\p{L}\p{N}])/gu;

/** For the middle of a line of Markdown. Even a bare address becomes no link. */
export const asMarkdown = (text: string): string => oneLine(text).replace(punctuation, '\\$&');
