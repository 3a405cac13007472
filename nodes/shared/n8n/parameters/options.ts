import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { endpoints, type Endpoint } from '../../service/protocol/endpoints';
import { hiddenForTools } from './editor';
import type { Field } from './field';
import { booleanField, choiceField, numberField, withDefault } from './fieldKinds';
import { ItemParameters, skipChecks } from './itemParameters';

/**
 * The node's "Options": first those that say what to make, then, by their rank, what guards the bill (from 1), how to
 * send it (from 11), and what few people need (from 21). Only added ones are sent.
 */
export function optionsProperty(options: readonly Field[]): INodeProperties {
	return {
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add Option',
		default: {},
		options: [...options]
			.sort(({ rank = 0 }, { rank: other = 0 }) => rank - other)
			.map(({ property }) => property),
	};
}

/** Undefined: the endpoint's own limit. */
export const timeoutOption = numberField('timeout', 'Request Timeout (Seconds)', {
	rank: 13,
	unit: 1000,
	rule: { type: 'number', min: 1 },
	description: 'How long to wait for the response to one request',
});

export const timeoutOptionOf = ({ timeoutSeconds }: Endpoint): Field => ({
	...timeoutOption,
	property: { ...timeoutOption.property, default: timeoutSeconds },
});

export const includeInputFieldsOption = booleanField('includeInputFields', 'Include Input Fields', {
	rank: 11,
	default: true,
	// The input of a tool comes from the model that calls it.
	displayOptions: hiddenForTools,
	description:
		'Whether to pass on the fields and files of the incoming item, too. Of two with the same name, the one of this node wins.',
});

/** Read by {@link ItemParameters} when a rule is broken. */
export const skipChecksOption = booleanField(skipChecks, 'Skip Checks', {
	rank: 22,
	default: true,
	displayOptions: hiddenForTools,
	description:
		'Whether to send the request and its files unchecked, for a service that allows more than this node knows. The service may still refuse them.',
});

/** May be a fraction, which the reader rounds down. */
export const batchSizeOption = withDefault(
	numberField('batchSize', 'Batch Size', {
		isSetting: true,
		rule: { type: 'number', min: 1 },
		default: 100,
		description: 'The maximum number of texts in one request',
	}),
);

/** Not in the specification. */
export const dimensionsOption = numberField('dimensions', 'Dimensions', {
	request: 'dimensions',
	rule: { type: 'integer', min: 1 },
	default: 1024,
	description:
		'How many numbers each vector has, for models that let you choose. Vectors of any other length are refused.',
});

export const encodingFormatOption = choiceField('encodingFormat', 'Encoding Format', {
	request: 'encoding_format',
	rule: endpoints.embedding.fields.encoding_format,
	options: [
		{
			name: 'Base64',
			value: 'base64',
			description: 'Smaller responses, which this node decodes to numbers',
		},
		{ name: 'Float', value: 'float' },
	],
	default: 'float',
	description: 'How the vectors are encoded in the response',
});

export const parallelRequestsOption = numberField('parallelRequests', 'Parallel Requests', {
	rank: 12,
	rule: { type: 'number', min: 1 },
	default: 10,
	// An agent calls its tool for one item at a time.
	displayOptions: hiddenForTools,
	description: 'How many items to send at the same time',
});

/** A number from 1 on that holds for all items, and is read before them. Default: that of the field. */
export function parallelOf(context: IExecuteFunctions, field: Field<number | undefined>): number {
	const fallback = Number(field.property.default);
	try {
		const number = field.read(new ItemParameters(context, 0).options);
		return number !== undefined && number >= 1 ? Math.floor(number) : fallback;
	} catch {
		// n8n cannot evaluate an expression. The items report it when they read their options.
		return fallback;
	}
}
