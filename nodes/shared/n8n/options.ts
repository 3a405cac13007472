import type { INodeProperties } from 'n8n-workflow';
import type { Endpoint } from '../gateway/protocol';
import type { ItemParameters } from './parameters';

/** "Options": what is sent only when it was added. */
export function optionsField(options: INodeProperties[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: options.toSorted((a, b) => a.displayName.localeCompare(b.displayName)),
	};
}

/** {@link ItemParameters.timeout} reads it. */
export const timeoutOption = ({ timeoutSeconds }: Endpoint): INodeProperties => ({
	displayName: 'Timeout (Seconds)',
	name: 'timeout',
	type: 'number',
	default: timeoutSeconds,
	typeOptions: { minValue: 1 },
	description: 'How long to wait for the answer to one request',
});

const defaultBatchSize = 100;

/** {@link batchSizeOf} reads it. */
export const batchSizeOption: INodeProperties = {
	displayName: 'Batch Size',
	name: 'batchSize',
	type: 'number',
	default: defaultBatchSize,
	typeOptions: { minValue: 1 },
	description: 'How many texts are sent in one request at most',
};

export function batchSizeOf(parameters: ItemParameters): number {
	const rules = { min: 1, fallback: defaultBatchSize };
	return Math.floor(parameters.setting('batchSize', 'Batch Size', rules));
}
