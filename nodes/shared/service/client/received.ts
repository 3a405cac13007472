import type { GatewayError } from '../errors/gatewayError';
import { refused, unreadable, type RequestInfo } from '../errors/requestErrors';
import { isObject, parseJson, parseResponse, valueAt } from '../json';
import { reasonIn } from '../reader/reason';
import { statedRefusal } from '../reader/refusal';
import { read } from '../reader/values';
import type { Clock } from './clock';
import { waitForEventLoop } from './eventLoop';
import type { Redaction } from './redaction';
import {
	OtherJobResponse,
	type RawResponse,
	type ServiceResponse,
	type UnusableResponse,
} from './response';
import { parseRetryAfter } from './retryPolicy';

const isWhole = ({ broken, excess }: RawResponse) => broken === undefined && excess === undefined;

/** Parses a response and removes the key. Each step takes long for a large one, so other work runs between them. */
export async function withoutKey(
	response: RawResponse,
	{ redaction, clock, isPoll }: { redaction: Redaction; clock: Clock; isPoll?: boolean },
): Promise<ServiceResponse> {
	const letOthersRun = async () => await waitForEventLoop(response.text.length, clock);
	await letOthersRun();
	const { status, headers, url, location, text: given, excess } = response;
	const head = { headers, url, location };
	const cleanHead = redaction.json(head);
	const text = isWhole(response) ? redaction.text(given) : redaction.truncated(given);
	await letOthersRun();
	// The text of an error may have exceeded the bounds, and nothing says so.
	const asWhole = opened(parseResponse(given, status < 400 && excess === undefined));
	const parsed = asWhole ?? (isPoll && isWhole(response) ? jsonWithin(given) : undefined);
	// A key written with \u escapes may appear only once the JSON is parsed.
	const mayHoldKey = text !== given || text.includes('\\u');
	if (mayHoldKey) await letOthersRun();
	const json = mayHoldKey ? redaction.json(parsed) : parsed;
	const isRedacted = cleanHead !== head || text !== given || json !== parsed;
	const shownText = json === parsed ? text : JSON.stringify(json);
	const retryAfter = parseRetryAfter(headers, clock.now());
	return { ...response, ...cleanHead, text: shownText, json, isRedacted, retryAfter };
}

/** Some gateways write the JSON of their service as a text in JSON. */
const opened = (value: unknown): unknown =>
	typeof value === 'string' && /^\s*[{[]/.test(value) ? (parseJson(value) ?? value) : value;

/** Characters; a longer text has a file in it. */
const maxWithin = 1_000_000;

/**
 * The JSON object with something before or behind it, such as a program's warnings or an event's name. Without it, no
 * poll of such a job would ever be read. Undefined if the response is a page.
 */
function jsonWithin(text: string): unknown {
	if (text.length > maxWithin || /^\s*<(?:!doctype|html)/i.test(text)) return undefined;
	const json = parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
	return isObject(json) ? json : undefined;
}

/** Some gateways put an error into a 2xx response. Text that arrived before the error may be charged. */
export function unusableError(
	requestInfo: RequestInfo,
	response: ServiceResponse,
	unusable: UnusableResponse,
	redaction: Redaction,
): GatewayError {
	const { partialText: rawText = '' } = unusable.more;
	const partialText = redaction.truncated(rawText);
	// A key that is split over several chunks is split in the raw response too, where it cannot be redacted.
	const shownResponse = partialText === rawText ? response : { ...response, text: '' };
	const errorBody =
		unusable.more.error === undefined ? undefined : redaction.json({ error: unusable.more.error });
	const isOfOtherJob = unusable instanceof OtherJobResponse;
	const error = isOfOtherJob ? undefined : valueAt(errorBody ?? response.json, 'error');
	if (partialText === '' && reasonIn(read({ error }))) {
		const shown = { ...response, text: JSON.stringify(errorBody), json: errorBody };
		return refused(requestInfo, errorBody ? shown : response);
	}
	const mayBeStated = isWhole(response) && !isOfOtherJob && partialText === '';
	if (mayBeStated && statedRefusal(response.json, requestInfo.cost))
		return refused(requestInfo, response);
	const { broken, excess } = response;
	const incomplete = excess !== undefined ? 'excess' : broken !== undefined ? 'cut' : undefined;
	return unreadable(requestInfo, shownResponse, redaction.text(unusable.message), {
		partialText,
		error,
		kind: incomplete ?? unusable.more.refusal,
	});
}
