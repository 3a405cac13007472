import type { INodeType, INodeTypeDescription } from 'n8n-workflow';

export const testNode = (
	name: string,
	description: Partial<INodeTypeDescription>,
	execute: INodeType['execute'],
): INodeType => ({
	description: {
		displayName: name,
		name,
		group: ['transform'],
		version: 1,
		description: '',
		defaults: { name },
		inputs: ['main'],
		outputs: ['main'],
		properties: [],
		...description,
	},
	execute,
});
