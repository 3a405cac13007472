import { words } from '../words';
import { endpoints, type Endpoint } from './endpoints';

/** The meaning of a state for the wait. The last two are final. */
export type Phase = 'queued' | 'running' | 'succeeded' | 'failed';

/** "States and transitions": the passthrough task, as the response to its creation names them. */
export const taskCreationStates = {
	PENDING: 'queued',
	RUNNING: 'running',
	SUCCEEDED: 'succeeded',
	FAILED: 'failed',
} as const satisfies Record<string, Phase>;

/** "States and transitions": the same task, as its polls name them. */
export const taskPollStates = {
	submitted: 'queued',
	in_progress: 'running',
	completed: 'succeeded',
	failed: 'failed',
} as const satisfies Record<string, Phase>;

/** "States and transitions": the `/v1/videos` job. */
export const videoJobStates = {
	queued: 'queued',
	processing: 'running',
	completed: 'succeeded',
	failed: 'failed',
} as const satisfies Record<string, Phase>;

const specifiedStates: Record<string, Phase> = {
	...taskCreationStates,
	...taskPollStates,
	...videoJobStates,
};

/**
 * Words of other services for the same states: a gateway passes on what a provider says, and no paid video must be lost
 * for a word. One that may mean anything is left out: its job counts as not finished.
 */
const otherWords: Record<Phase, string> = {
	queued: `
		waiting wait created scheduled accepted preparing throttled queue in_queue queueing queuing not_start
		not_started 排队中 等待中
	`,
	running: 'generating rendering starting started dreaming run in_process 处理中 生成中 进行中',
	succeeded: `
		success successful succeed complete done finish finished ready 成功 完成 已完成 生成成功 完了 완료 성공
	`,
	failed: `
		failure fail error errored rejected expired aborted cancel canceled cancelled timeout time_out
		timed_out 失败 已失败 生成失败 已取消 失敗 실패
	`,
};

const phases = new Map<string, Phase>([
	...(Object.keys(otherWords) as Phase[]).flatMap((phase) =>
		words(otherWords[phase]).map((word) => [word, phase] as const),
	),
	...Object.entries(specifiedStates).map(([state, phase]) => [state.toLowerCase(), phase] as const),
]);

const pollStates = new Set([...Object.keys(taskPollStates), ...Object.keys(videoJobStates)]);

/** Undefined for an unknown state. Some services put a prefix such as `TASK_STATUS_` before their words. */
export function phaseOf(state: string): Phase | undefined {
	const word = state
		.slice(0, 100)
		.trim()
		.toLowerCase()
		.replace(/[-_ ]+/g, '_');
	return phases.get(word.replace(/^(?:(?:task|job|video|generation)_)?(?:status|state)_/, ''));
}

/** Matches an unknown state in which a job surely goes on, although its file may be announced. */
export const goesOnWords =
	/ing(?![a-z])|pend|progress|process(?!ed)|queue|stage|step|wait|retry|retries|retried|\brun\b|\bactive|中(?![断止])|중(?![단지])|排队|等待/i;

/** Matches an unknown state in which a job with an error and no file has surely failed. "Blocked" may be the poll. */
export const failureWords = /moderat|censor|nsfw|cancel|terminated|termination|违规/i;

/** Whether the specification gives this state for `status`. */
export const isPollState = (state: string): boolean => pollStates.has(state.toLowerCase());

/** A job in an unknown phase has not ended. */
export const isFinal = (phase: Phase | undefined): phase is 'succeeded' | 'failed' =>
	phase === 'succeeded' || phase === 'failed';

/** The two kinds of job, and how each is polled ("Endpoints" 2, 12 and "Limits"). */
export type JobKind = 'task' | 'video';

export const jobKinds = {
	task: { endpoint: endpoints.task, pollSeconds: 10 },
	video: { endpoint: endpoints.video, pollSeconds: 5 },
} as const satisfies Record<JobKind, { endpoint: Endpoint; pollSeconds: number }>;

/** How long a job usually takes ("Endpoints" 2). The specification says it of a task only. */
export const usualMinutes: Partial<Record<JobKind, { min: number; max: number }>> = {
	task: { min: 1, max: 5 },
};
