import { asText, excerpt, isObject, valueAt } from '../json';
import { phaseOf } from '../protocol/jobs';
import { ErrorReader, hasCause, type ErrorObject, type Fields } from './errorObject';
import { causeNames, codeNames, remarkNames } from './reasonNames';

/** Where the fields of a job may be, besides the response itself. */
const jobPaths = ['output', 'data', 'result', 'task', 'data.output', 'data.task', 'data.data'];
const jobNames = [...causeNames, ...remarkNames, ...codeNames];

/** Why a job failed. The specification does not show the fields of its `error`, so every likely form is read. */
export function jobFailureReason(job: unknown): ErrorObject {
	const reader = new ErrorReader();
	const places = [job, ...jobPaths.map((path) => valueAt(job, path))].flatMap((place) => {
		const fields = isObject(place) ? reader.fieldsOf(place) : undefined;
		return fields ? [failureFieldsOf(fields)] : [];
	});
	// A remark of the response itself may be about the call.
	const withCause = places.filter(hasCause);
	const found = [...withCause, ...places.reverse()].map((place) => reader.readFields(place, 0));
	const reason = found.find((error) => error?.message !== undefined) ?? found.find(Boolean);
	if (reason) return reason;
	const error = valueAt(job, 'error');
	const isEmpty = !error || (typeof error === 'object' && Object.keys(error).length === 0);
	return isEmpty ? {} : { message: excerpt(JSON.stringify(error)) };
}

/** The fields that may say why a job failed, without those that only repeat its state, or that the call succeeded. */
function failureFieldsOf(fields: Fields): Fields {
	const given = jobNames.flatMap((name) => {
		const value = fields.get(name);
		const text = asText(typeof value === 'string' ? value.slice(0, 100) : value) ?? '';
		const isState = phaseOf(text) !== undefined || /^(?:ok|0|2\d\d)$/i.test(text);
		const isKept = value !== undefined && (causeNames.includes(name) || !isState);
		return isKept ? [[name, value] as const] : [];
	});
	return new Map(given);
}
