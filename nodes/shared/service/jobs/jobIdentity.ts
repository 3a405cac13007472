import { OtherJobResponse, type ServiceResponse } from '../client/response';
import { excerpt } from '../json';
import type { JobKind } from '../protocol/jobs';
import { isList, jobIdsIn, listedJobs, shownIdIn } from '../reader/jobId';
import { stateIn } from '../reader/jobState';
import { read } from '../reader/values';

/** Whether one of the fields that name a job names this one. */
export const namesJob = (fields: unknown, id: string): boolean =>
	jobIdsIn(read(fields)).some((one) => isSameId(one, id));

/**
 * A parser that refuses responses about another job. A proxy may mix up responses, and another job's video would be
 * taken for the one that was ordered. A response is refused only if it certainly names another job. Of a list of jobs,
 * which a service gives where it ignores the ID, only this one is read.
 * @param parse parses a response that names this job, or none
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

/** In characters: no ID that can be requested is as long, URL-encoded or not. */
export const maxIdLength = 5_000;

const isSameId = (one: string, other: string) => plainId(one) === plainId(other);

/** An ID without the differences that services ignore. Some encode it for a URL, and what is encoded once more. */
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
