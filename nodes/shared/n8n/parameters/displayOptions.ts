import type { IDisplayOptions } from 'n8n-workflow';

/**
 * For what a tool of an agent does not use. Not `show`: an n8n that does not know `@tool` would then show it to
 * nobody.
 */
export const hiddenForTools: IDisplayOptions = { hide: { '@tool': [true] } };
