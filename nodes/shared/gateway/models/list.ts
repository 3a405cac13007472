import type { Call, Gateway } from '../client/gateway';
import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asText, isObject, valueAt, type JsonObject } from '../json';
import { endpoints } from '../protocol/endpoints';

/**
 * The models that the service lists ("Endpoints" 7).
 * @param options as a {@link Call} has them
 * @throws GatewayError
 */
export async function listModels(
	gateway: Gateway,
	options: Pick<Call<unknown>, 'timeout' | 'retries'> = {},
): Promise<Model[]> {
	return await gateway.call({
		endpoint: endpoints.models,
		purpose: 'list the models',
		...options,
		parse: modelList,
	});
}

export interface Model extends JsonObject {
	id: string;
}

export function modelList(response: ServiceResponse): Model[] {
	const list = [
		response.json,
		...['data', 'models', 'data.data'].map((path) => valueAt(response.json, path)),
	];
	const entries = list.find(Array.isArray) as unknown[] | undefined;
	if (entries === undefined) throw new UnusableResponse(describeBody(response));
	return entries.flatMap((entry) => {
		const fields = isObject(entry) ? entry : {};
		const id = asText(typeof entry === 'string' ? entry : (fields.id ?? fields.model));
		return id === undefined ? [] : [{ ...fields, id }];
	});
}
