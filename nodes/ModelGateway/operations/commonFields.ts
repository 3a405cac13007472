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
