import type { AINodeConnectionType, IDisplayOptions, INodeProperties } from 'n8n-workflow';

/**
 * Hides a field that a tool of an agent does not use. `hide` and not `show`, because an n8n that does not know `@tool`
 * would never show the field.
 */
export const hiddenForTools: IDisplayOptions = { hide: { '@tool': [true] } };

/**
 * The field, and the same for a tool of an agent, where the model fills it in: its default is what the editor writes
 * when the user presses the button beside the field. An n8n that does not know `@tool` shows the first only.
 */
export function filledInByModel(field: INodeProperties): INodeProperties[] {
	const key = field.displayName.replaceAll(' ', '_');
	return [
		{ ...field, displayOptions: hiddenForTools },
		{
			...field,
			default: `={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('${key}', \`\`, 'string') }}`,
			displayOptions: { show: { '@tool': [true] } },
		},
	];
}

/** The notice at the top of a tool's panel. An n8n that does not know `@tool` never shows it. */
export const toolNotice = (html: string): INodeProperties => ({
	displayName: html,
	name: 'toolNotice',
	type: 'notice',
	displayOptions: { show: { '@tool': [true] } },
	default: '',
});

/** Tells the model of an agent about the tool, unless the user writes something else. Without it, n8n names no costs. */
export const toolDescription = (text: string): INodeProperties => ({
	displayName: 'Description',
	name: 'toolDescription',
	type: 'string',
	typeOptions: { rows: 3 },
	displayOptions: { show: { '@tool': [true] } },
	default: text,
	required: true,
	description: 'What the model reads about this tool before it calls it',
});

/**
 * The notice at the top of a sub-node that says where to connect it, in n8n's own style.
 * @param html with {@link creatorLink}s
 */
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
