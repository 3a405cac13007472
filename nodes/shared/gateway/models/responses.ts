import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asText, isObject, valueAt, type JsonObject } from '../json';

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
