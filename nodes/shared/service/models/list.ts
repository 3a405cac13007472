import type { Call, Gateway } from '../client/gateway';
import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { asText, isObject, textAt, without, type JsonObject } from '../json';
import { endpoints } from '../protocol/endpoints';
import { read } from '../reader/values';

/** The models that the service lists ("Endpoints" 7). @throws GatewayError */
export async function listModels(
	gateway: Gateway,
	options: Pick<Call<unknown>, 'timeout' | 'retries'> = {},
): Promise<ModelList> {
	return await gateway.call({
		endpoint: endpoints.models,
		purpose: 'list the models',
		...options,
		parse: modelList,
	});
}

interface Model extends JsonObject {
	id: string;
}

interface ModelList {
	models: Model[];
	/** Other fields of the response. */
	fields: ResponseFields;
}

/** The models of the first list that has any. */
export function modelList(response: ServiceResponse): ModelList {
	const { json } = response;
	const lists = read(json).lists.filter(({ isUsual }) => isUsual);
	const found = lists.find(({ entries }) => entries.some(modelIn)) ?? lists.at(0);
	if (found === undefined) throw new UnusableResponse(describeBody(response));
	const others = isObject(json) ? without(json, found.path) : {};
	const models = found.entries.flatMap((entry) => modelIn(entry) ?? []);
	return { models, fields: withRequestIds(others, response) };
}

function modelIn(entry: unknown): Model | undefined {
	const fields = isObject(entry) ? entry : {};
	const id = typeof entry === 'string' ? asText(entry) : textAt(fields, 'id', 'model', 'name');
	return id === undefined ? undefined : { ...fields, id };
}
