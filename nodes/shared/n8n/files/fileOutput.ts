import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import type { FileSource } from '../../gateway/client/fileRequest';
import { isTool } from '../agent/tool';
import type { ItemParameters } from '../parameters/itemParameters';

/** Whether a node downloads its file, and the binary field for it. */
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

/** Reads a {@link FileOutput}. A tool never downloads, since no file reaches the model of an agent. */
export function readFileOutput(parameters: ItemParameters): FileOutput {
	const isWanted = parameters.boolean('download', 'Download', true);
	const download = isWanted && !isTool(parameters.context.getNode());
	const binaryField = download
		? parameters.text('binaryField', 'Put Output File in Field')
		: 'data';
	return { download, binaryField };
}

/** Whether to download a video. A tool does so only when the link needs the key, and gives a link to n8n's copy. */
export function isFetched(
	{ download }: FileOutput,
	{ authenticated }: FileSource,
	context: IExecuteFunctions,
): boolean {
	return download || (authenticated && isTool(context.getNode()));
}
