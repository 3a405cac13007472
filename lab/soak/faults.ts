import type { FaultAction, Gateway, RecordedRequest, Route } from '../../gateway';
import type { Random } from '../../gateway/random';

type Loss = Extract<FaultAction, { accepted?: boolean }>;

const retryAfter = { 'retry-after': '2' };
const page = {
	status: 502,
	headers: { 'content-type': 'text/html' },
	body: '<h1>Bad gateway</h1>',
};

/** The service refuses for a while. */
const refusals: FaultAction[] = [
	{ action: 'error', status: 429, code: 'rate_limit_exceeded', headers: retryAfter },
	{ action: 'error', status: 500, code: 'upstream_error' },
	{ action: 'error', status: 500, code: 'write_response_body_failed' },
	{ action: 'error', status: 503, code: 'server_error', headers: retryAfter },
];

/** The response is lost, or does not come from the service. */
const losses: Loss[] = [
	{ action: 'reset' },
	{ action: 'stall' },
	{ action: 'answer', ...page },
	{ action: 'answer', body: '' },
	{ action: 'answer', body: '{"status": "comp' },
];

/** The response is cut off on its way. */
const breaks: FaultAction[] = [
	{ action: 'cut', after: 0 },
	{ action: 'cut', after: '10%' },
	{ action: 'cut', after: '50%' },
	{ action: 'cut', after: '90%' },
	{ action: 'freeze', after: '30%' },
	{ action: 'wrongLength', by: 100 },
	{ action: 'wrongLength', by: -10 },
];

/** The response is good, but has an unusual form or arrives in an unusual way. */
const oddities: FaultAction[] = [
	{ action: 'encode', encoding: 'gzip' },
	{ action: 'encode', encoding: 'br' },
	{ action: 'encode', encoding: 'deflate' },
	{ action: 'headers', headers: { 'content-type': 'text/plain' } },
	{ action: 'stall', seconds: 3 },
];

const slowly: FaultAction = { action: 'drip', bytesPerSecond: 100 };
const reads = [...refusals, ...losses, ...breaks, ...oddities, slowly];
const accepted = losses.map((loss): FaultAction => ({ ...loss, accepted: true }));
const creates = [...reads, ...accepted];

const expired = {
	status: 403,
	headers: { 'content-type': 'application/xml' },
	body: '<Error><Code>AccessDenied</Code><Message>Request has expired.</Message></Error>',
};

/** The faults of each kind of request that leave its job intact. */
const faults: Partial<Record<Route, FaultAction[]>> = {
	referenceVideoCreate: creates,
	videoCreate: creates,
	task: reads,
	video: reads,
	videoContent: reads,
	download: [
		...refusals,
		...losses,
		...breaks,
		...oddities,
		{ action: 'drip', bytesPerSecond: 50_000 },
		{ action: 'answer', ...expired },
		{ action: 'headers', headers: { etag: undefined, 'accept-ranges': undefined } },
		// These two only affect a download that is resumed.
		{ action: 'ignoreRange' },
		{ action: 'changeEtag' },
	],
};

interface DrawnFaults {
	/** The number of requests that met a fault. */
	readonly hits: number;
	/** The fault of a request. */
	of(request: RecordedRequest): FaultAction | undefined;
	/** Whether the request got a good response, even if an unusual one. */
	isServed(request: RecordedRequest): boolean;
}

/** Makes this share of the requests meet a fault, which is drawn when the request arrives. */
export function drawFaults(gateway: Gateway, share: number, random: Random): DrawnFaults {
	const drawn = new WeakMap<RecordedRequest, FaultAction | undefined>();
	const draw = (request: RecordedRequest, actions: FaultAction[]) => {
		if (!drawn.has(request)) {
			const isHit = random() < share;
			drawn.set(request, isHit ? actions[Math.floor(random() * actions.length)] : undefined);
		}
		return drawn.get(request);
	};
	const handles = Object.entries(faults).flatMap(([route, actions]) =>
		actions.map((action) =>
			gateway.fault({
				...action,
				route: route as Route,
				times: Infinity,
				when: (request) => draw(request, actions) === action,
			}),
		),
	);
	const harmless = [...oddities, slowly];
	return {
		get hits() {
			return handles.reduce((sum, handle) => sum + handle.hits, 0);
		},
		of: (request) => drawn.get(request),
		isServed(request) {
			const fault = drawn.get(request);
			return fault === undefined || harmless.includes(fault);
		},
	};
}
