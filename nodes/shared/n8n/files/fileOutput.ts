import type { IExecuteFunctions } from 'n8n-workflow';
import { isDataUrl, type FileSource } from '../../service/client/fileRequest';
import { isTool } from '../agent/tool';
import { hiddenForTools } from '../parameters/editor';
import type { FieldGroup } from '../parameters/field';
import { switchField, textField, withDefault } from '../parameters/fieldKinds';

export interface FileOutput {
	download: boolean;
	binaryField: string;
}

/** The fields of a download. A tool ignores them: no file reaches the model of an agent. @param description of Download */
export function fileOutput(description: string): FieldGroup<FileOutput> {
	const download = switchField('download', 'Download', {
		isSetting: true,
		default: true,
		description,
		displayOptions: hiddenForTools,
	});
	const binaryField = withDefault(
		textField('binaryField', 'Put Output File in Field', {
			isSetting: true,
			default: 'data',
			required: true,
			displayOptions: { show: { download: [true] }, ...hiddenForTools },
			hint: 'The name of the output binary field to put the file in',
		}),
	);
	return {
		fields: [download, binaryField],
		read(scope) {
			const isOn = download.read(scope) && !isTool(scope.parameters.context.getNode());
			return { download: isOn, binaryField: isOn ? binaryField.read(scope) : 'data' };
		},
	};
}

/**
 * Whether to download a video: always if it came in place of its link. A tool also downloads one whose link needs the
 * API key, to give a link to n8n's copy.
 */
export function shouldDownload(
	{ download }: FileOutput,
	source: FileSource,
	context: IExecuteFunctions,
): boolean {
	return download || isDataUrl(source) || (source.authenticated && isTool(context.getNode()));
}
