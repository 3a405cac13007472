import type { INodeProperties, ISupplyDataFunctions } from 'n8n-workflow';
import type { EmbedOptions } from '../shared/service/embeddings/embed';
import { endpoints } from '../shared/service/protocol/endpoints';
import { badInput } from '../shared/n8n/errors/badInput';
import { ExtraBody, extraBodyOption } from '../shared/n8n/parameters/extraBody';
import { switchField } from '../shared/n8n/parameters/fieldKinds';
import { ItemParameters } from '../shared/n8n/parameters/itemParameters';
import { modelField } from '../shared/n8n/parameters/model';
import { connectionNotice, creatorLink } from '../shared/n8n/parameters/editor';
import {
	batchSizeOption,
	dimensionsOption,
	encodingFormatOption,
	optionsProperty,
	timeoutOption,
	timeoutOptionOf,
} from '../shared/n8n/parameters/options';

export interface Settings extends EmbedOptions {
	stripNewLines: boolean;
}

const model = modelField();

const stripNewLines = switchField('stripNewLines', 'Strip New Lines', {
	default: true,
	description: 'Whether to turn line breaks into spaces before a text is embedded',
});

export const properties: INodeProperties[] = [
	connectionNotice(
		`Connect this node to the Embedding input of a ${creatorLink('ai_vectorStore', 'vector store')}`,
	),
	model.property,
	optionsProperty([
		dimensionsOption,
		encodingFormatOption,
		batchSizeOption,
		stripNewLines,
		extraBodyOption,
		timeoutOptionOf(endpoints.embedding),
	]),
];

/** @throws GatewayError that names every parameter that cannot be used */
export function settingsOf(context: ISupplyDataFunctions, item: number): Settings {
	const parameters = new ItemParameters(context, item);
	const { options, problems } = parameters;
	const extra = new ExtraBody(parameters, 'input');
	const settings = {
		fields: extra.body([model], [dimensionsOption, encodingFormatOption]),
		batchSize: Math.floor(batchSizeOption.read(options)),
		timeout: timeoutOption.read(options),
		stripNewLines: stripNewLines.read(options),
	};
	if (problems.length > 0) throw badInput(problems);
	return settings;
}
