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
	/** Of the error record; undefined when the node gives an item. */
	error?: Pick<ErrorRecord, 'status' | 'billed'>;
}

/** By what it costs to repeat the request; a route that is named goes its own way. */
type Row = Record<Repetition, Outcome> & { [route: string]: Outcome };

const item = (requests: number, charges = 0): Outcome => ({ requests, charges });
const error = (
	requests: number,
	status: number,
	billed: ErrorRecord['billed'],
	charges = 0,
): Outcome => ({ requests, charges, error: { status, billed } });

/** The wait of three minutes asks every ten seconds, the last time at its deadline. */
const polls = 19;
const ofContent = 'Wait for Video, content';
const streamed = 'chat.complete, streamed';

/** The first answer is good enough. */
const unharmed: Row = {
	...{ job: item(1, 1), generation: item(1, 1), read: item(1) },
	...{ poll: item(1), download: item(1), fetch: item(1, 1) },
};
/** The second one is. */
const healed: Row = {
	...{ job: item(2, 1), generation: item(2, 1), read: item(2) },
	...{ poll: item(2), download: item(2), fetch: item(2, 1) },
};
/** The service refuses, again and again, for a reason that may pass: with this status. */
const refused = (status: number, tries = 5): Row => ({
	...{ job: error(tries, status, 'no'), generation: error(tries, status, 'no') },
	...{ read: error(tries, status, 'no'), poll: error(polls, 0, 'unknown') },
	...{ download: error(tries, status, 'yes'), fetch: error(tries, status, 'yes', 1) },
	[ofContent]: error(polls, status, 'yes'),
});
/** Nobody answers. */
const lost = refused(0);
/** A 2xx status came, and nothing to be used. */
const useless: Row = { ...refused(200), generation: error(1, 200, 'unknown', 1) };

/** Once a create may have been accepted, it is sent only once. */
const sentOnce = (charges: 0 | 1, status = 0) => ({
	job: error(1, status, 'unknown', charges),
});
/** An answer that had begun to arrive is paid for, and is not asked for again. */
const broken = { generation: error(1, 200, 'unknown') };
/** The id had come; the gateway counts a call as paid only when all of its answer has gone out. */
const idCame = { job: item(1, 1) };
const notCounted = { generation: item(1) };
/** No answer within the time limit of a minute leaves time for few polls. */
const slowPolls = (status: number) => ({
	poll: error(4, 0, 'unknown'),
	[ofContent]: error(3, status, 'yes'),
});

const unreachable: Row = {
	...{ job: error(0, 0, 'no'), generation: error(0, 0, 'no'), read: error(0, 0, 'no') },
	...{ poll: error(0, 0, 'unknown'), download: error(0, 0, 'yes') },
	fetch: error(0, 0, 'yes', 1),
};
/** A storage host is not the service, so its codes tell nothing. */
const ofFiles = (status: number) => {
	const tries = status === 429 ? 8 : 5;
	return { download: error(tries, status, 'yes'), fetch: error(tries, status, 'yes', 1) };
};
const healedFiles = { download: healed.download, fetch: healed.fetch };
/** A balance does not heal by asking again; whoever waits goes on all the same. */
const quota = (status: number): Row => ({ ...refused(status, 1), ...ofFiles(status) });
/** Neither does what is wrong with the request, for which no waiting helps either. */
const permanent = (status: number): Row => ({
	...quota(status),
	...{ poll: error(1, status, 'no'), [ofContent]: error(1, status, 'yes') },
});
const notResent = (status: number) => ({ job: error(1, status, 'no') });

/** What each fault leads to, when it passes after one request and when it stays. */
const rows: Record<string, Partial<Record<Duration, Row>>> = {
	'connection refused': { always: unreachable },
	'unknown host name': { always: unreachable },
	'TLS failure': { always: unreachable },
	'primary down, backup up': { always: unharmed },
	'primary silent, backup up': { always: { ...unharmed, job: error(0, 0, 'unknown') } },
	'primary gives a page with 502, backup up': {
		always: { ...unharmed, job: error(0, 502, 'unknown') },
	},
	'both down': {
		always: {
			...unreachable,
			// The question for the file comes before the file.
			...{ download: error(0, 0, 'unknown'), fetch: error(0, 0, 'no') },
			'the file of video.getContent': error(0, 0, 'no'),
		},
	},
	'reset before the answer': {
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
			download: error(20, 0, 'yes'),
			fetch: error(5, 0, 'yes', 1),
		},
	},
	'no answer': {
		once: { ...healed, ...sentOnce(0) },
		always: { ...lost, ...sentOnce(0), ...slowPolls(0) },
	},
	'silence in mid-body': {
		once: { ...healed, ...idCame, ...broken },
		always: {
			...{ ...useless, ...idCame, ...broken, ...slowPolls(200) },
			...{ download: error(20, 0, 'yes'), fetch: error(5, 0, 'yes', 1) },
		},
	},
	'slow drip': { once: unharmed, always: unharmed },
	'shorter than declared': {
		// A video is asked for its rest: only when there is none, it is whole. A picture has its end in itself.
		once: { ...unharmed, ...notCounted, download: item(2) },
		always: { ...unharmed, ...notCounted, download: item(2) },
	},
	'cut, in good order': {
		once: { ...healed, ...idCame, ...broken, [streamed]: item(1) },
		always: {
			...{ ...useless, ...idCame, ...broken, [streamed]: item(1) },
			download: error(5, 0, 'yes'),
		},
	},
	empty: {
		once: { ...healed, ...sentOnce(1, 200), generation: useless.generation },
		always: { ...useless, ...sentOnce(1, 200), download: error(5, 0, 'yes') },
	},
	'malformed JSON': {
		once: { ...healed, ...sentOnce(1, 200), generation: useless.generation },
		always: { ...useless, ...sentOnce(1, 200), download: error(4, 200, 'yes') },
	},
	'HTML 502': {
		once: { ...healed, ...sentOnce(0, 502) },
		always: { ...refused(502), ...sentOnce(0, 502) },
	},
	'JSON 504 of a proxy': {
		once: { ...healed, ...sentOnce(0, 504) },
		always: { ...refused(504), ...sentOnce(0, 504) },
	},
	'wrong content type': { once: unharmed, always: unharmed },
	'compressed (gzip)': { once: unharmed, always: unharmed },
	'compressed (br)': { once: unharmed, always: unharmed },
	'compressed (deflate)': { once: unharmed, always: unharmed },
	'429': { once: healed, always: refused(429, 8) },
	'429 with Retry-After': { once: healed, always: refused(429, 8) },
	'429 quota_exceeded': {
		once: { ...quota(429), ...healedFiles, poll: item(2), [ofContent]: item(2) },
		always: quota(429),
	},
	'500 quota_exceeded': {
		once: { ...quota(500), ...healedFiles, poll: item(2), [ofContent]: item(2) },
		always: quota(500),
	},
	...Object.fromEntries(
		['video_not_ready', 'upstream_error'].map((code) => [
			`500 ${code}`,
			{ once: healed, always: refused(500) },
		]),
	),
	// There was a response to deliver, perhaps with the ID of a job.
	'500 write_response_body_failed': {
		once: { ...healed, ...sentOnce(0, 500) },
		always: { ...refused(500), ...sentOnce(0, 500) },
	},
	...Object.fromEntries(
		[
			...['invalid_api_key', 'model_not_found', 'invalid_model', 'invalid_prompt'],
			...['video_not_found', 'invalid_image_file'],
		].map((code) => [
			`500 ${code}`,
			{ once: { ...permanent(500), ...healedFiles }, always: permanent(500) },
		]),
	),
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
			...{ read: error(1, 307, 'no'), 'video.getContent': item(1), [ofContent]: item(1) },
		},
		always: {
			...{ ...refused(307, 1), download: error(4, 200, 'yes'), fetch: error(5, 200, 'yes', 1) },
			// A redirect is one of the forms in which the address of a file may be given.
			...{ 'video.getContent': item(1), [ofContent]: item(1) },
		},
	},
};

/** What has to come of a fault that a route meets. */
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
