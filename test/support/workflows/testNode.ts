import type { INodeType, INodeTypeDescription } from 'n8n-workflow';

/** A node of a test. */
export const testNode = (
	name: string,
	description: Partial<INodeTypeDescription>,
	execute: INodeType['execute'],
): INodeType => ({
	description: {
		...{ displayName: name, name, group: ['transform'], version: 1, description: '' },
		...{ defaults: { name }, inputs: ['main'], outputs: ['main'], properties: [] },
		...description,
	},
	execute,
});
