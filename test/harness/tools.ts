import { NodeConnectionTypes, type INodeType } from 'n8n-workflow';

/** The node as n8n offers it to agents: without inputs, and with a tool as its output. */
export function asTool({ description, execute }: INodeType): INodeType {
	const { name, displayName, ...rest } = description;
	if (!rest.usableAsTool) throw new Error(`${name} cannot be used as a tool`);
	if (!rest.properties.some((property) => property.name === 'toolDescription'))
		throw new Error(`n8n would describe ${name}`);
	return {
		description: {
			...rest,
			name: `${name}Tool`,
			displayName: `${displayName} Tool`,
			inputs: [],
			outputs: [NodeConnectionTypes.AiTool],
		},
		execute,
	};
}
