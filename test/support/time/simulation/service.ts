import type { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import type { PollerAction, PollerEvent } from '../../../../nodes/shared/service/jobs/poller';
import {
	jobStatus,
	videoContent,
	type JobStatus,
} from '../../../../nodes/shared/service/jobs/responses';
import type { JobKind } from '../../../../nodes/shared/service/protocol/jobs';
import type { Random } from '../../../../gateway/random';
import { answerOf } from '../../data/answers';
import { completed, link, lost, page, refusal, running, unsent } from '../simulatedJobs';

/** A job at the service. Times in milliseconds. */
export interface ServiceJob {
	kind: JobKind;
	/** Whether the item of the job contains its kind. */
	isKindTold: boolean;
	endsAt: number;
	fails: boolean;
	/** When its response has the link; for some jobs, this is seconds after the end. */
	linkedAt: number;
	/** From a request to its response. */
	latency: number;
}

export type Request = Extract<PollerAction, { do: 'poll' | 'fetchContent' }>;
export type Answer = Extract<PollerEvent, { type: 'polled' | 'contentReceived' | 'requestFailed' }>;

const second = 1000;

const statuses = {
	running: jobStatus(answerOf(running)),
	failed: jobStatus(answerOf({ status: 'failed', error: { message: 'no faces' } })),
	completed: jobStatus(answerOf(completed)),
	withoutLink: jobStatus(answerOf({ status: 'completed' })),
};
const content = videoContent(answerOf({ url: link }));
const otherKind = refusal(404);
const notReady = refusal(404, 'video_not_ready');

const badAnswers: GatewayError[] = [
	...[lost, unsent, page, refusal(500), refusal(502), refusal(503, undefined, 5 * second)],
	...[refusal(429), refusal(429, 'rate_limit_exceeded', 20 * second)],
	...[refusal(429, 'rate_limit_exceeded', 90 * second)],
];

/** Draws random jobs, and returns the responses of the service for them. */
export class SimulatedService {
	/** @param badShare the share of requests that fail: 0 to 1 */
	constructor(
		private readonly random: Random,
		private readonly badShare = 0.05,
	) {}

	/** A job that begins now. Most take 20 s to 10 min, short ones more often; some take up to an hour. */
	drawJob(now: number): ServiceJob {
		const { random } = this;
		const [least, factor] = random() < 0.95 ? [20 * second, 30] : [600 * second, 6];
		const kind = random() < 0.5 ? 'task' : 'video';
		const endsAt = now + Math.round(least * factor ** random());
		return {
			kind,
			endsAt,
			isKindTold: random() < 0.9,
			fails: random() < 0.03,
			linkedAt: endsAt + (random() < 0.02 ? Math.round(10 * second * random()) : 0),
			latency: 50 + Math.round(1500 * random() ** 3),
		};
	}

	/**
	 * @param sentAt when the request arrives; the response has the status of the job at this time
	 * @param now when the response arrives
	 */
	answer(
		job: ServiceJob,
		request: Request,
		{ sentAt, now }: Record<'sentAt' | 'now', number>,
	): Answer {
		const { random } = this;
		if (random() < this.badShare) {
			const error = badAnswers[Math.floor(random() * badAnswers.length)];
			return { type: 'requestFailed', now, error };
		}
		const kind = request.do === 'fetchContent' ? 'video' : request.kind;
		if (kind !== job.kind) return { type: 'requestFailed', now, error: otherKind };
		if (request.do === 'fetchContent') {
			return sentAt < job.linkedAt
				? { type: 'requestFailed', now, error: notReady }
				: { type: 'contentReceived', content };
		}
		return { type: 'polled', now, status: statusOf(job, sentAt) };
	}
}

function statusOf({ kind, endsAt, fails, linkedAt }: ServiceJob, now: number): JobStatus {
	if (now < endsAt) return statuses.running;
	if (fails) return statuses.failed;
	return kind === 'task' && now >= linkedAt ? statuses.completed : statuses.withoutLink;
}
