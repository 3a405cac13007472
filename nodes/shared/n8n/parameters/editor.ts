import type { AINodeConnectionType, IDisplayOptions, INodeProperties } from 'n8n-workflow';

/**
 * For what a tool of an agent does not use. Not `show`: an n8n that does not know `@tool` would then show it to
 * nobody.
 */
export const hiddenForTools: IDisplayOptions = { hide: { '@tool': [true] } };

/** The line at the top of a tool's panel. An n8n that does not know `@tool` shows it to nobody. */
export const toolNotice = (html: string): INodeProperties => ({
	displayName: html,
	name: 'toolNotice',
	type: 'notice',
	displayOptions: { show: { '@tool': [true] } },
	default: '',
});

/** The line at the top of a sub-node that says where it belongs, in n8n's own style. @param html with {@link creatorLink}s */
export const connectionNotice = (html: string): INodeProperties => ({
	displayName: html,
	name: 'notice',
	type: 'notice',
	typeOptions: { containerClass: 'ndv-connection-hint-notice' },
	default: '',
});

/** A link that opens the list of the nodes that take this connection. */
export const creatorLink = (connectionType: AINodeConnectionType, text: string): string =>
	`<a data-action='openSelectiveNodeCreator' data-action-parameter-connectiontype='${connectionType}'>${text}</a>`;
