import type { AINodeConnectionType, IDisplayOptions, INodeProperties } from 'n8n-workflow';

// An n8n that does not know `@tool` shows what is hidden for tools, and never what is shown for them.
export const hiddenForTools: IDisplayOptions = { hide: { '@tool': [true] } };
const shownForTools: IDisplayOptions = { show: { '@tool': [true] } };

/**
 * The field, and the same for a tool of an agent, where the model fills it in: its default is what the editor writes
 * when the user presses the button beside the field.
 */
export function filledInByModel(field: INodeProperties): INodeProperties[] {
	const key = field.displayName.replaceAll(' ', '_');
	return [
		{ ...field, displayOptions: hiddenForTools },
		{
			...field,
			default: `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`\`, 'string') }}`,
			displayOptions: shownForTools,
		},
	];
}

/** The notice at the top of a tool's panel. */
export const toolNotice = (html: string): INodeProperties => ({
	displayName: html,
	name: 'toolNotice',
	type: 'notice',
	displayOptions: shownForTools,
	default: '',
});

/** For the model of an agent, unless the user writes something else. n8n's own description names no costs. */
export const toolDescription = (text: string): INodeProperties => ({
	displayName: 'Description',
	name: 'toolDescription',
	type: 'string',
	typeOptions: { rows: 3 },
	displayOptions: shownForTools,
	default: text,
	required: true,
	description: 'What the model reads about this tool before it calls it',
});

/** The notice of a sub-node that says where to connect it, as n8n shows it. @param html with {@link creatorLink}s */
export const connectionNotice = (html: string): INodeProperties => ({
	displayName: html,
	name: 'notice',
	type: 'notice',
	typeOptions: { containerClass: 'ndv-connection-hint-notice' },
	default: '',
});

/** A link that opens n8n's list of nodes with this connection. */
export const creatorLink = (connectionType: AINodeConnectionType, text: string): string =>
	`<a data-action='openSelectiveNodeCreator' data-action-parameter-connectiontype='${connectionType}'>${text}</a>`;
