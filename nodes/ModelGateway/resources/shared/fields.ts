import type { INodeProperties } from 'n8n-workflow';

export const extraBodyOption: INodeProperties = {
	displayName: 'Extra Body (JSON)',
	name: 'extraBody',
	type: 'json',
	default: '{}',
	description: 'Further fields of the request, for what newer models take',
};

export const simplifyField: INodeProperties = {
	displayName: 'Simplify',
	name: 'simplify',
	type: 'boolean',
	default: true,
	description: 'Whether to return a simplified version of the response instead of the raw data',
};

/** What is to be made; must not be empty. */
export const promptField = (
	own: Pick<INodeProperties, 'placeholder' | 'description'> & { rows?: number },
): INodeProperties => {
	const { rows = 3, ...texts } = own;
	return {
		displayName: 'Prompt',
		name: 'prompt',
		type: 'string',
		typeOptions: { rows },
		default: '',
		required: true,
		...texts,
	};
};
