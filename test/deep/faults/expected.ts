import type { ErrorRecord } from '../../../nodes/shared/n8n/errors/errorRecord';
import type { Fault } from './faults';
import { repetitionOf, type FaultRoute, type Repetition } from './routes';

/** Whether a fault passes after one request, or stays. */
export type Duration = 'once' | 'always';

/** How a cell of the matrix ends. */
export interface Outcome {
	/** Requests of the route that reached the gateway. */
	requests: number;
	/** Lines of the billing ledger. */
	charges: number;
	/** From the error record; undefined when the node gives an item. */
	error?: Pick<ErrorRecord, 'status' | 'billed'>;
	/** Set if a hint says that the request was sent twice, so that it may be charged twice. */
	hintsTwice?: true;
}

/** The outcomes by what it costs to repeat the request. A named route has its own outcome. */
type Row = Record<Repetition, Outcome> & { [route: string]: Outcome };

const item = (requests: number, charges = 0): Outcome => ({ requests, charges });
const error = (
	requests: number,
	status: number,
	billed: ErrorRecord['billed'],
	charges = 0,
): Outcome => ({ requests, charges, error: { status, billed } });

/** The wait of three minutes polls every ten seconds, the last time at its deadline. */
const polls = 19;
const ofContent = 'Wait for Video, content';
/** The link of a video is looked for in its content and in the job, in turn. */
const looks = 10;
/** The service says that there is no link: it is looked for over a minute. */
const looksOfMinute = 4;
const streamed = 'chat.complete, streamed';

/** The first response is usable. */
const unharmed: Row = {
	...{ job: item(1, 1), generation: item(1, 1), read: item(1) },
	...{ poll: item(1), download: item(1), fetch: item(1, 1) },
};
/** The second response is usable. */
const healed: Row = {
	...{ job: item(2, 1), generation: item(2, 1), read: item(2) },
	...{ poll: item(2), download: item(2), fetch: item(2, 1) },
};
/** A request about a job that exists: the job may be charged, whatever the request says. */
const ofJobs = (tries: number, status: number) =>
	Object.fromEntries(
		['referenceVideo.get', 'video.get', 'video.getContent'].map((route) => [
			...[route, error(tries, status, 'unknown')],
		]),
	) as Record<string, Outcome>;
/** The service refuses every request with this status, for a reason that may pass. */
const refused = (status: number, tries = 5): Row => ({
	...{ job: error(tries, status, 'no'), generation: error(tries, status, 'no') },
	...{ read: error(tries, status, 'no'), poll: error(polls, 0, 'unknown') },
	...{ download: error(tries, status, 'yes'), fetch: error(tries, status, 'yes', 1) },
	...ofJobs(tries, status),
	[ofContent]: error(looks, status, 'yes'),
});
/** No response ever arrives. */
const lost = refused(0);
/** Every response has a 2xx status and nothing usable. */
const useless: Row = {
	...{ ...refused(200), generation: error(1, 200, 'unknown', 1) },
	[ofContent]: error(looksOfMinute, 200, 'yes'),
};

/** A create that may have been accepted is sent only once. */
const sentOnce = (charges: 0 | 1, status = 0) => ({
	job: error(1, status, 'unknown', charges),
});
/** A request that may have been accepted is sent once more, and the item has a hint about that. */
const sentTwice = (requests: number, charges: number) => ({
	generation: { ...item(requests, charges), hintsTwice: true as const },
});
/**
 * A proxy responds instead of the service, so it is unknown whether the service charged. A generation is sent once more
 * after a 502 or 503. After a 504 or 408, it may still be running.
 */
const proxied = (status: number, charges: 0 | 1): Record<Duration, Row> => {
	const job = sentOnce(charges, status);
	const resends = [502, 503].includes(status);
	const tries = resends ? 2 : 1;
	const generation = error(tries, status, 'unknown', tries * charges);
	return {
		once: {
			...{ ...healed, ...job },
			// The request that the proxy did not disturb is charged, too.
			...(resends ? sentTwice(2, 1 + charges) : { generation }),
		},
		always: { ...refused(status), ...job, generation },
	};
};
/** A response that had begun to arrive may have been charged, so the request is not sent again. */
const broken = { generation: error(1, 200, 'unknown') };
/** The ID had arrived. The gateway charges a generation only when its whole response was sent. */
const idCame = { job: item(1, 1) };
const notCounted = { generation: item(1) };
/** No response within the time limit of a minute leaves time for few polls. */
const slowPolls = (status: number) => ({
	poll: error(status === 0 ? 5 : 6, 0, 'unknown'),
	[ofContent]: error(3, status, 'yes'),
});

const unreachable: Row = {
	...{ job: error(0, 0, 'no'), generation: error(0, 0, 'no'), read: error(0, 0, 'no') },
	...ofJobs(0, 0),
	...{ poll: error(0, 0, 'unknown'), download: error(0, 0, 'yes') },
	fetch: error(0, 0, 'yes', 1),
};
/** A storage host is not the service, so its error codes mean nothing. */
const ofFiles = (status: number) => {
	const tries = status === 429 ? 8 : 5;
	return { download: error(tries, status, 'yes'), fetch: error(tries, status, 'yes', 1) };
};
const healedFiles = { download: healed.download, fetch: healed.fetch };
/** Sending again does not refill a balance. A wait continues all the same. */
const quota = (status: number): Row => ({
	...{ ...refused(status, 1), ...ofFiles(status) },
	[ofContent]: error(looksOfMinute, status, 'yes'),
});
/** Sending again does not help when the request itself is wrong. A poll that is refused does not end the wait. */
const permanent = (status: number): Record<Duration, Row> => ({
	once: { ...quota(status), ...healedFiles, poll: item(2), [ofContent]: item(2) },
	always: quota(status),
});
/** A refusal of this job, or of the key, ends the wait after a minute, in which the other endpoint is polled, too. */
const aboutJob = (status: number, ofCreated: Outcome): Record<Duration, Row> => ({
	...permanent(status),
	always: {
		...{ ...quota(status), poll: error(2, status, 'unknown') },
		// It comes from its creation.
		'Wait for Video, a video job': ofCreated,
	},
});
const notResent = (status: number) => ({ job: error(1, status, 'no') });

/** What each fault leads to, when it passes after one request and when it stays. */
const rows: Record<string, Partial<Record<Duration, Row>>> = {
	'connection refused': { always: unreachable },
	'unknown host name': { always: unreachable },
	'TLS failure': { always: unreachable },
	'primary down, backup up': { always: unharmed },
	'primary silent, backup up': { always: { ...unharmed, job: error(0, 0, 'unknown') } },
	'primary responds with a 502 page, backup up': {
		always: {
			...{ ...unharmed, job: error(0, 502, 'unknown'), ...sentTwice(1, 1) },
			'the file of an image': sentTwice(1, 1).generation,
		},
	},
	'both down': {
		always: {
			...unreachable,
			// The request for the link fails before the download.
			...{ download: error(0, 0, 'unknown'), fetch: error(0, 0, 'no') },
		},
	},
	'reset before the response': {
		once: { ...healed, ...sentOnce(0) },
		always: { ...lost, ...sentOnce(0) },
	},
	'reset after it was accepted': {
		once: { ...healed, ...sentOnce(1) },
		always: { ...lost, ...sentOnce(1) },
	},
	'reset in mid-body': {
		once: { ...healed, ...idCame, ...broken },
		always: {
			...useless,
			...idCame,
			...broken,
			// Each try resumes where the last one broke off.
			...{ download: error(20, 0, 'yes'), fetch: error(12, 0, 'yes', 1) },
			// A part of a response says nothing about the link.
			[ofContent]: error(looks, 200, 'yes'),
		},
	},
	// All tries of a generation share one time limit.
	'no response': {
		once: { ...healed, ...sentOnce(0), generation: error(1, 0, 'no') },
		always: { ...lost, ...sentOnce(0), generation: error(1, 0, 'no'), ...slowPolls(0) },
	},
	'silence in mid-body': {
		once: { ...healed, ...idCame, ...broken },
		always: {
			...{ ...useless, ...idCame, ...broken, ...slowPolls(200) },
			// A download has as long as the wait that it belongs to: three minutes, or else twenty.
			...{ download: error(3, 0, 'yes'), fetch: error(5, 0, 'yes', 1) },
			'the file of video.getContent': error(20, 0, 'yes'),
		},
	},
	'slow drip': { once: unharmed, always: unharmed },
	'shorter than declared': {
		// The node requests the rest of a video: it is complete only if there is none. An image shows its own end.
		once: { ...unharmed, ...notCounted, download: item(2) },
		always: { ...unharmed, ...notCounted, download: item(2) },
	},
	'cut, with a matching length': {
		once: { ...healed, ...idCame, ...broken, [streamed]: item(1) },
		always: {
			...{ ...useless, ...idCame, ...broken, [streamed]: item(1) },
			download: error(5, 0, 'yes'),
			// It is like this the second time, too.
			'the file of an image': item(2, 1),
		},
	},
	empty: {
		once: { ...healed, ...sentOnce(1, 200), generation: useless.generation },
		always: {
			...{ ...useless, ...sentOnce(1, 200) },
			...{ download: error(5, 0, 'yes'), fetch: error(5, 0, 'yes', 1) },
		},
	},
	'malformed JSON': {
		once: { ...healed, ...sentOnce(1, 200), generation: useless.generation },
		always: { ...useless, ...sentOnce(1, 200), download: error(4, 200, 'yes') },
	},
	'HTML 502': proxied(502, 0),
	'JSON 504 of a proxy': proxied(504, 0),
	...Object.fromEntries(
		[502, 503, 504, 408].flatMap((status) => [
			[`a proxy's ${status} page, accepted`, proxied(status, 1)],
			[`a load balancer's ${status} JSON, accepted`, proxied(status, 1)],
		]),
	),
	// The gateway charges for each response that it has sent to the proxy.
	'a proxy closes the connection, accepted': {
		once: { ...healed, ...sentOnce(1), generation: item(2, 2) },
		always: { ...lost, ...sentOnce(1), generation: error(5, 0, 'no', 5) },
	},
	'wrong content type': { once: unharmed, always: unharmed },
	'compressed (gzip)': { once: unharmed, always: unharmed },
	'compressed (br)': { once: unharmed, always: unharmed },
	'compressed (deflate)': { once: unharmed, always: unharmed },
	'429': { once: healed, always: refused(429, 8) },
	'429 with Retry-After': { once: healed, always: refused(429, 8) },
	'429 quota_exceeded': permanent(429),
	...Object.fromEntries(
		['video_not_ready', 'upstream_error'].map((code) => [
			`500 ${code}`,
			{ once: healed, always: refused(500) },
		]),
	),
	// There was a response to deliver, perhaps with a job ID.
	'500 write_response_body_failed': {
		once: { ...healed, ...sentOnce(0, 500) },
		always: { ...refused(500), ...sentOnce(0, 500) },
	},
	...Object.fromEntries(
		[
			...['quota_exceeded', 'model_not_found', 'invalid_model', 'invalid_prompt'],
			'invalid_image_file',
		].map((code) => [`500 ${code}`, permanent(500)]),
	),
	'500 invalid_api_key': aboutJob(500, error(3, 500, 'unknown')),
	'500 video_not_found': aboutJob(500, error(15, 0, 'unknown')),
	'500 some_other_code': {
		once: { ...healed, ...notResent(500) },
		always: { ...refused(500), ...notResent(500) },
	},
	'503': {
		once: { ...healed, ...notResent(503) },
		always: { ...refused(503), ...notResent(503) },
	},
	'redirect to another origin': {
		once: {
			...{ ...healed, ...notResent(307), generation: error(1, 307, 'no') },
			...{ read: error(1, 307, 'no'), ...ofJobs(1, 307) },
			...{ 'video.getContent': item(1), [ofContent]: item(1) },
		},
		always: {
			...{ ...refused(307, 1), download: error(4, 200, 'yes'), fetch: error(5, 200, 'yes', 1) },
			// A redirect is one of the forms in which the address of a file may be given.
			...{ 'video.getContent': item(1), [ofContent]: item(1) },
		},
	},
};

/** The expected outcome of a fault on a route. */
export function expectedOf({
	fault,
	route,
	duration,
}: {
	fault: Fault;
	route: FaultRoute;
	duration: Duration;
}): Outcome {
	const row = rows[fault.name]?.[duration];
	if (row === undefined) throw new Error(`Nothing is expected of "${fault.name}", ${duration}`);
	return row[route.name] ?? row[repetitionOf(route)];
}
