import { asText, isObject, textAt, type JsonObject } from '../json';
import { phaseOf } from '../protocol/jobs';
import { readErrorObject, type ErrorObject } from './errorObject';

/** Codes and statuses with which services say that all is well. */
const success = /^(?:0+|1|2\d\d|ok|okay|success(?:ful|fully)?|succeed(?:ed)?|done|true|normal)$/i;

/** Fields in which a service says whether it has accepted a request. */
const verdictPaths = [
	...['code', 'error_code', 'err_code', 'errcode', 'errno', 'status_code', 'retcode', 'ret_code'],
	...['base_resp.status_code', 'header.code', 'meta.code', 'success', 'ok'],
];

/** Names under which a service may put what it has made. */
const resultName =
	/(?:id|uuid|no|num|number|url|uri|link)$|^(?:data|result|results|output|task|job|video|image|text|content)$/i;

/** Names that end like an ID, and belong to the call or to the account. */
const callName =
	/request|trace|log|span|session|user|account|org|project|channel|group|doc|help|errno/i;

/** How deep, and how many fields of it in all, a response is searched for a result. */
const [maxDepth, maxFields] = [4, 200];

/**
 * Why a 2xx response refuses the request, where it has no `error` object: some services put a code and a reason in
 * place of the result. The specification shows no such response. Undefined unless it is certain, because a request that
 * was accepted may be charged: the response must say no, give a reason or a code, and have nothing that may be a result.
 */
export function statedRefusal(body: unknown): ErrorObject | undefined {
	if (!isObject(body) || !saysNo(body)) return undefined;
	const error = readErrorObject(body);
	const isPraise = success.test(error?.message?.trim() ?? '');
	return error === undefined || isPraise || mayHaveResult(body) ? undefined : error;
}

function saysNo(body: JsonObject): boolean {
	const verdicts = verdictPaths.flatMap((path) => verdictAt(body, path) ?? []);
	const hasFailed = phaseOf(textAt(body, 'status') ?? '') === 'failed';
	return hasFailed || verdicts.some((verdict) => !success.test(verdict));
}

const verdictAt = (body: JsonObject, path: string): string | undefined => {
	const [name, inner] = path.split('.');
	const value = inner === undefined ? body[name] : isObject(body[name]) && body[name][inner];
	return typeof value === 'boolean' && inner === undefined ? String(value) : asText(value);
};

/** Whether a field may name or hold what the service has made. */
function mayHaveResult(body: JsonObject): boolean {
	let level: Array<[name: string, value: unknown]> = Object.entries(body);
	let left = maxFields;
	for (let depth = 0; depth < maxDepth && level.length > 0; depth++) {
		left -= level.length;
		if (left < 0) return true;
		const held = level.filter(([name]) => resultName.test(name) && !callName.test(name));
		if (held.some(([, value]) => asText(value) !== undefined)) return true;
		level = level.flatMap(([name, value]) => {
			if (Array.isArray(value)) return value.map((entry): [string, unknown] => [name, entry]);
			return isObject(value) ? Object.entries(value) : [];
		});
	}
	return level.length > 0;
}
