import { NodeConnectionTypes, type INodeProperties, type INodeType } from 'n8n-workflow';

/** The node as n8n offers it to agents: without inputs, with a tool as its output, and with a tool description. */
export function asTool({ description, execute }: INodeType): INodeType {
	const { name, displayName, properties, ...rest } = description;
	if (!rest.usableAsTool) throw new Error(`${name} cannot be used as a tool`);
	const hasMenus = properties.some((property) => property.name === 'operation');
	return {
		description: {
			...rest,
			name: `${name}Tool`,
			displayName: `${displayName} Tool`,
			inputs: [],
			outputs: [NodeConnectionTypes.AiTool],
			properties: [...toolProperties(rest.description, hasMenus), ...properties],
		},
		execute,
	};
}

function toolProperties(toolDescription: string, hasMenus: boolean): INodeProperties[] {
	const text: INodeProperties = {
		displayName: 'Description',
		name: 'toolDescription',
		type: 'string',
		default: toolDescription,
		required: true,
	};
	if (!hasMenus) return [text];
	const origin: INodeProperties = {
		displayName: 'Tool Description',
		name: 'descriptionType',
		type: 'options',
		options: [
			{ name: 'Set Automatically', value: 'auto' },
			{ name: 'Set Manually', value: 'manual' },
		],
		default: 'auto',
	};
	return [origin, { ...text, displayOptions: { show: { descriptionType: ['manual'] } } }];
}
