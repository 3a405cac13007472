import type { ISupplyDataFunctions, SupplyData } from 'n8n-workflow';
import { valueAt } from '../shared/service/json';
import { createGateway } from '../shared/n8n/client/gateway';
import { subNodeError } from '../shared/n8n/errors/nodeError';
import { aiNodeSdk } from './aiNodeSdk';
import { GatewayChatModel } from './chatModel';
import { patchLangChainModel, type LangChainModel } from './langChainModel';
import { settingsOf } from './settings';

/** The chat model of one item, as n8n's AI nodes use it. */
export async function supplyChatModel(
	context: ISupplyDataFunctions,
	item: number,
): Promise<SupplyData> {
	const toNodeError = (error: unknown) => subNodeError(context.getNode(), error);
	try {
		const settings = settingsOf(context, item);
		const sdk = aiNodeSdk();
		const gateway = await createGateway(context);
		const schemaOf = sdk.getParametersJsonSchema;
		const model = new GatewayChatModel(settings, { gateway, schemaOf, toNodeError });

		const response = patchLangChainModel(
			sdk.supplyModel(context, model).response as LangChainModel,
		);
		// Makes the Basic LLM Chain parse the text as JSON and output the object.
		if (isJson(settings.fields.response_format)) response.metadata = { output_format: 'json' };
		return { response };
	} catch (error) {
		throw toNodeError(error);
	}
}

const isJson = (format: unknown): boolean =>
	['json_object', 'json_schema'].includes(String(valueAt(format, 'type')));
