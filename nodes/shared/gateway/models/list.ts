import type { Call, Gateway } from '../client/gateway';
import {
	describeBody,
	UnusableResponse,
	withRequestIds,
	type ResponseFields,
	type ServiceResponse,
} from '../client/response';
import { asText, isObject, valueAt, without, type JsonObject } from '../json';
import { endpoints } from '../protocol/endpoints';

/**
 * The models that the service lists ("Endpoints" 7).
 * @param options see {@link Call}
 * @throws GatewayError
 */
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
	/** The other fields of the response. */
	fields: ResponseFields;
}

/** Where the models may be; the empty path is the response itself. */
const listPaths = ['', 'data', 'models', 'data.data'];

const mayBeModel = (entry: unknown) => typeof entry === 'string' || isObject(entry);

export function modelList(response: ServiceResponse): ModelList {
	const { json } = response;
	const entriesAt = (path: string) => (path === '' ? json : valueAt(json, path));
	const path = listPaths.find((place) => Array.isArray(entriesAt(place)));
	if (path === undefined) throw new UnusableResponse(describeBody(response));
	const entries = (entriesAt(path) as unknown[]).filter(mayBeModel);
	const models = entries.flatMap((entry) => {
		const fields = isObject(entry) ? entry : {};
		const id = asText(typeof entry === 'string' ? entry : (fields.id ?? fields.model));
		return id === undefined ? [] : [{ ...fields, id }];
	});
	const others = isObject(json) ? without(json, path.split('.')) : {};
	return { models, fields: withRequestIds(others, response) };
}
