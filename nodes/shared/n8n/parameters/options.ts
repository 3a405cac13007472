import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { asText } from '../../gateway/json';
import type { Endpoint } from '../../gateway/protocol/endpoints';
import type { ItemParameters } from './itemParameters';

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
	const rules = { min: 1, default: defaultBatchSize };
	return Math.floor(parameters.setting('batchSize', 'Batch Size', rules));
}

/** A number of things done at the same time, of all items; the usual one where there is no such number. */
export function parallelOf(context: IExecuteFunctions, name: string, usual: number): number {
	try {
		const number = Number(asText(context.getNodeParameter(`options.${name}`, 0, usual)));
		return number >= 1 ? Math.floor(number) : usual;
	} catch {
		// An expression that n8n cannot evaluate: the items tell, as they read all options.
		return usual;
	}
}
