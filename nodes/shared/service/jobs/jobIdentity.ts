import { OtherJobResponse, type ServiceResponse } from '../client/response';
import { excerpt } from '../json';
import type { JobKind } from '../protocol/jobs';
import { isList, jobIdsIn, listedJobs, shownIdIn } from '../reader/jobId';
import { stateIn } from '../reader/jobState';
import { read } from '../reader/values';

export const namesJob = (fields: unknown, id: string): boolean =>
	jobIdsIn(read(fields)).some((one) => isSameId(one, id));

/**
 * A parser that refuses a response which certainly names another job: a proxy may mix them up, and the video would be
 * taken for the one that was ordered. A service that ignores the ID lists jobs, of which only this one is read.
 */
export function parserForJob<T>(
	{ id, source }: { id: string; source: JobKind | 'content' },
	parse: (response: ServiceResponse) => T,
): (response: ServiceResponse) => T {
	return (response) => {
		const answer = read(response.json);
		const shown = shownIdIn(answer, source);
		const jobs = shown === undefined ? listedJobs(answer) : [];
		const own = jobs.find((one) => isSameId(one.id, id));
		if (own) return parse({ ...response, json: own.job });
		// A content may list its files, with IDs of their own.
		const hasOnlyJobs = source !== 'content' && (isList(answer) || stateIn(answer) === undefined);
		const [other = shown] = hasOnlyJobs ? jobs.map((one) => one.id) : [];
		if (other === undefined || namesJob(response.json, id)) return parse(response);
		throw new OtherJobResponse(`is about another job: ${excerpt(other, 100)}`);
	};
}

/** In characters: no ID that can be requested is as long, even URL-encoded. */
export const maxIdLength = 5_000;

const isSameId = (one: string, other: string) => plainId(one) === plainId(other);

/** Without the differences that services ignore. Some encode an ID for a URL, even twice. */
function plainId(id: string): string {
	const text = decoded(decoded(id.slice(0, maxIdLength)));
	return text
		.normalize()
		.replace(/\s+/g, '')
		.toLowerCase()
		.replace(/^0+(?=[1-9]\d*$)/, '');
}

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}
