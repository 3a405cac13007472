import type { AINodeConnectionType, INodeProperties } from 'n8n-workflow';

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
