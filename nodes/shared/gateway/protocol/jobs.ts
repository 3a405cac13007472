import { endpoints, type Endpoint } from './endpoints';

/** What a state means for the wait. The last two are final. */
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

const phases = new Map<string, Phase>(
	[taskCreationStates, taskPollStates, videoJobStates].flatMap((states) =>
		Object.entries(states).map(([state, phase]) => [state.toLowerCase(), phase] as const),
	),
);

/** The phase of a state from any of the three lists; undefined for an unknown state. */
export function phaseOf(state: string): Phase | undefined {
	return phases.get(state.toLowerCase());
}

/** Whether a job in this phase has ended; one in an unknown phase has not. */
export const isFinal = (phase: Phase | undefined): phase is 'succeeded' | 'failed' =>
	phase === 'succeeded' || phase === 'failed';

/** The two kinds of long job, and how each is polled ("Endpoints" 2, 12 and "Limits"). Times in seconds. */
export type JobKind = 'task' | 'video';

export const jobKinds = {
	task: { endpoint: endpoints.task, pollSeconds: 10 },
	video: { endpoint: endpoints.video, pollSeconds: 5 },
} as const satisfies Record<JobKind, { endpoint: Endpoint; pollSeconds: number }>;

/**
 * The fields of a response that name its job ("Resources"); those in `data` are where some gateways put the whole
 * response.
 */
export const jobIdFields = {
	task: ['output.task_id', 'task_id', 'data.task_id', 'data.output.task_id'],
	video: ['id', 'video_id', 'data.video_id'],
} as const satisfies Record<JobKind, readonly string[]>;

/** The same for the content of a video job ("Endpoints" 13), whose `id` may be that of the file. */
export const contentJobIdFields = ['video_id', 'data.video_id'] as const;
