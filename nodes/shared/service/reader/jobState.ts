import { asText, type JsonObject } from '../json';
import { failureWords, goesOnWords, isFinal, isPollState, phaseOf } from '../protocol/jobs';
import { hasError } from './reason';
import {
	at,
	firstBy,
	named,
	plainName,
	plainNames,
	type Answer,
	type Rule,
	type Value,
} from './values';

export const isAboutSomethingElse: Rule = ({ path }) =>
	path.slice(0, -1).some((name) => besides.test(name));
const besides =
	/^(?:error|usage|request|input|prompts?|user|account|billing|moderation|webhooks?|callbacks?|links|steps?|stages?|subtasks?|children|history|logs?|events?|queue|audio|image|thumbnail)$/;

export const valuesOfJob = ({ values }: Answer): Value[] =>
	values.filter((value) => !value.isOneOfMany && !isAboutSomethingElse(value));

/** Names of parts that can only be the job. */
export const jobParts =
	/^(?:data|output|outputs|result|results|response|resp|body|task|tasks|job|jobs|video|videos|movie|generation|generations)$/;

/** The value that these give, if all give the same. */
export function onlyOne(values: Value[]): Value | undefined {
	const different = new Set(values.map(({ value }) => asText(value)));
	return different.size === 1 ? values[0] : undefined;
}

/** The surest comes first. */
const stateNames = ['task_status', 'job_status', 'video_status', 'status', 'task_state', 'state'];

const plainStateNames = plainNames(...stateNames);

export const hasState = (object: JsonObject): boolean =>
	Object.keys(object).some((name) => plainStateNames.has(plainName(name)));

/**
 * The state of a job as the service spells it ("Endpoints" 2 and 12). Some gateways add a status of the call itself, such
 * as "success"; then the job's own decides, even if it is unknown.
 */
export function stateIn(answer: Answer): string | undefined {
	const values = valuesOfJob(answer);
	const [status] = wordsOf(values.filter(at('status')));
	if (status !== undefined && isAboutJob(status)) return status;
	const states = stateNames
		.flatMap((name) => values.filter(named(name)))
		.filter((value) => !at('status')(value));
	const ofJob = wordsOf(states.filter(isWithinJob)).filter((word) => !/^[1-5]\d\d$/.test(word));
	const own = ofJob.find((word) => phaseOf(word) !== undefined) ?? ofJob[0] ?? status;
	// A part of another name may be a step of the job, so it counts only where there is nothing else.
	return own ?? endIn(values.filter(isWithinJob)) ?? asText(onlyOne(states)?.value);
}

const isWithinJob: Rule = ({ path }) =>
	path.slice(0, -1).every((name) => jobParts.test(name) || /^(?:status|state)$/.test(name));

const wordsOf = (values: Value[]): string[] => values.flatMap(({ value }) => asText(value) ?? []);

/** "success" and "error" may also be about the call. */
function isAboutJob(status: string): boolean {
	const phase = phaseOf(status);
	return isPollState(status) || (phase !== undefined && !isFinal(phase));
}

/** Some services say only whether a job has ended. */
function endIn(values: Value[]): string | undefined {
	const end = values.find((each) => typeof each.value === 'boolean' && isEnd(each));
	if (end === undefined) return undefined;
	if (end.value === false) return 'running';
	return Object.keys(end.siblings).some((name) => plainName(name) === 'error') ? 'failed' : 'done';
}
const isEnd = named('done', 'is_done', 'completed', 'is_completed', 'finished', 'is_finished');

/** The end of a job in an unknown state, if other parts of the answer make it sure. @param job `hasLink`: to its file */
export function sureEndIn(
	answer: Answer,
	{ state = '', hasLink }: { state?: string; hasLink: boolean },
): 'done' | 'failed' | undefined {
	const flag = Number(state === '' ? answer.values.find(isSuccessFlag)?.value : undefined);
	if (hasLink) return flag === 1 ? 'done' : undefined;
	const isFailure = flag > 1 || (failureWords.test(state) && !goesOnWords.test(state));
	return isFailure && hasError(answer) ? 'failed' : undefined;
}
/** The `successFlag` of Kie: 0 while the job goes on, 1 when it has succeeded, and 2 or 3 when it has failed. */
const isSuccessFlag = named('success_flag');

/** Percent. */
export function progressIn(answer: Answer): number | undefined {
	const found = firstBy(valuesOfJob(answer), [
		named('progress'),
		named('progress_percent', 'percentage', 'percent'),
	]);
	const percent = Number.parseFloat(asText(found?.value) ?? '');
	return Number.isFinite(percent) ? percent : undefined;
}
