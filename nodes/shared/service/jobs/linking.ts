import { linkTo, type FileSource } from '../client/fileRequest';
import { withOwnFields, type ResponseFields } from '../client/response';
import type { Failure, GatewayError } from '../errors/gatewayError';
import { jobLinkCarriesKey, linkMissing, linkNotFound } from '../errors/jobErrors';
import { withoutUndefined } from '../json';
import { passes } from '../protocol/errorCodes';
import {
	deadlineOf,
	fail,
	pauseAfter,
	waitUntil,
	type Linking,
	type PollerState,
	type Step,
} from './pollerState';
import type { JobStatus, VideoContent } from './responses';

/** Milliseconds for a job that succeeds to give its link, even after the deadline of the wait. */
const linkGrace = 60_000;

/** A task has its link itself; that of a video job comes from the content endpoint ("Endpoints" 2 and 13). */
export function startLinking(
	state: PollerState,
	now: number,
	{ link, linkCarriesKey, fields = {} }: Partial<JobStatus> = {},
): PollerState & { stage: Linking } {
	const source = state.kind === 'video' ? 'content' : 'job';
	const known = linkCarriesKey ? {} : withoutUndefined({ link });
	const deadline = now + linkGrace;
	return { ...state, stage: { name: 'linking', deadline, fields, ...known, source, failures: {} } };
}

/** The status is final; the job is polled again only for its link. */
export function handleLink(
	state: PollerState,
	stage: Linking,
	status: JobStatus,
	now: number,
): Step {
	const { job } = state;
	const { link, linkCarriesKey, fields } = status;
	if (linkCarriesKey) return fail(state, jobLinkCarriesKey(job));
	if (link !== undefined) return finishWithLink(state, link, fields);
	const denial = status.phase === 'succeeded' ? status.failure : undefined;
	return linkAfterFailure(state, stage, linkMissing(job, status, denial), now);
}

function finishWithLink(state: PollerState, url: string, fields: ResponseFields): Step {
	const mayNeedKey = state.kind === 'video' && ({ mayNeedKey: true } as const);
	return finish(state, { url, authenticated: false, ...mayNeedKey }, fields);
}

export function handleContent(state: PollerState, { source, fields }: VideoContent): Step {
	const known = state.stage.name === 'linking' ? state.stage.fields : {};
	return finish(state, source, { ...known, ...fields });
}

function finish(state: PollerState, source: FileSource, fields: ResponseFields): Step {
	const { kind, job } = state;
	const link = linkTo(source);
	const own = kind === 'video' ? { id: job.id, url: link } : { task_id: job.id, result_url: link };
	return {
		state,
		action: { do: 'finish', finished: { source, fields: withOwnFields(fields, own) } },
	};
}

/** Looks for the link in the other place, and after a pause in the first again. */
export function linkAfterFailure(
	state: PollerState,
	stage: Linking,
	error: GatewayError,
	now: number,
): Step {
	const { link, fields, deadline } = stage;
	if (link !== undefined) return finishWithLink(state, link, fields);
	const failures = { ...stage.failures, [stage.source]: error.failure };
	const isSure = Object.values(failures).every(saysThereIsNoLink);
	const until = isSure ? deadline : Math.max(deadline, deadlineOf(state));
	if (error.failure.kind === 'linkCarriesKey' || now >= until)
		return fail(state, linkNotFound(state.job, failures, fields));
	const source = stage.source === 'job' ? 'content' : 'job';
	const last = failures[source];
	const next = last ? Math.min(now + pauseAfter(state, last), until) : now;
	return waitUntil({ ...state, stage: { ...stage, source, failures } }, now, next);
}

/** Whether the service responded, and would respond so again. */
const saysThereIsNoLink = ({ reach, retry_can_help, kind }: Failure) =>
	(reach === 'unreadable' && kind !== 'cut' && !passes(kind)) ||
	(reach === 'answered' && !retry_can_help);
