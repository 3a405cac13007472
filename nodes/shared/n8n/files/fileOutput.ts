import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { FileSource } from '../../gateway/client/fileRequest';
import { isTool } from '../agent/tool';
import type { ItemParameters } from '../parameters/itemParameters';

/** Whether a node fetches its file, and the field that it goes into. */
export interface FileOutput {
	download: boolean;
	binaryField: string;
}

/** The inputs of a {@link FileOutput}. @param description of the switch */
export const fileOutputFields = (description: string): INodeProperties[] => [
	{ displayName: 'Download', name: 'download', type: 'boolean', default: true, description },
	{
		displayName: 'Put Output File in Field',
		name: 'binaryField',
		type: 'string',
		default: 'data',
		required: true,
		displayOptions: { show: { download: [true] } },
		hint: 'The name of the output binary field to put the file in',
	},
];

/** No file reaches the model of an agent: a tool fetches none. */
export function readFileOutput(parameters: ItemParameters): FileOutput {
	const wanted = parameters.boolean('download', 'Download', true);
	const download = wanted && !isTool(parameters.context.getNode());
	const binaryField = download
		? parameters.text('binaryField', 'Put Output File in Field')
		: 'data';
	return { download, binaryField };
}

/** Whether to fetch a video: also for a tool, where only the key opens the link, to give a link to a copy. */
export function isFetched(
	{ download }: FileOutput,
	{ authenticated }: FileSource,
	context: IExecuteFunctions,
): boolean {
	return download || (authenticated && isTool(context.getNode()));
}
