import { describeBody, UnusableResponse, type ServiceResponse } from '../client/response';
import { asText, isObject, valueAt, type JsonObject } from '../json';

export interface Model extends JsonObject {
	id: string;
}

export function modelList(answer: ServiceResponse): Model[] {
	const list = [
		answer.json,
		...['data', 'models', 'data.data'].map((path) => valueAt(answer.json, path)),
	];
	const entries = list.find(Array.isArray) as unknown[] | undefined;
	if (entries === undefined) throw new UnusableResponse(describeBody(answer));
	return entries.flatMap((entry) => {
		const fields = isObject(entry) ? entry : {};
		const id = asText(typeof entry === 'string' ? entry : (fields.id ?? fields.model));
		return id === undefined ? [] : [{ ...fields, id }];
	});
}
