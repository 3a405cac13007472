import { randomFrom, type Random } from '../../../../gateway/random';
import type { GatewayError } from '../../../../nodes/shared/service/errors/gatewayError';
import { step } from '../../../../nodes/shared/service/jobs/poller';
import {
	startWait,
	type PollerAction,
	type PollerEvent,
	type PollerState,
} from '../../../../nodes/shared/service/jobs/pollerState';
import { jobStatus, videoContent } from '../../../../nodes/shared/service/jobs/responses';
import { isFinal, jobKinds, type JobKind } from '../../../../nodes/shared/service/protocol/jobs';
import { limits } from '../../../../nodes/shared/service/protocol/limits';
import { answerOf } from '../../../support/data/answers';
import {
	completed,
	link,
	lost,
	page,
	refusal,
	running,
	unsent,
} from '../../../support/time/simulatedJobs';

// Drives the pollers of many jobs in simulated time, and counts the results. All times are in milliseconds.

/** `hold` keeps running to the end; `park` leaves polls to passes that n8n begins once a minute. */
type Mode = 'hold' | 'park';
type Request = Extract<PollerAction, { do: 'poll' | 'fetchContent' }>;
type Answer = Extract<PollerEvent, { type: 'polled' | 'contentReceived' | 'requestFailed' }>;

const second = 1000;
const minute = 60 * second;
const timeout = limits.waitMinutes * minute;
const minInterval = limits.minPollSeconds * second;
/** How far the first polls of a pass are spread, as with many jobs in one node. */
const maxSpread = { hold: 200, park: minInterval };
/** How long a wait looks for the link of a finished job. */
const linkGrace = minute;

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
	lost,
	unsent,
	page,
	refusal(500),
	refusal(502),
	refusal(503, undefined, 5 * second),
	refusal(429),
	refusal(429, 'rate_limit_exceeded', 20 * second),
	refusal(429, 'rate_limit_exceeded', 90 * second),
];

/** A job that begins now. Most take 20 s to 10 min, short ones more often; some take up to an hour. */
function drawJob(random: Random, now: number) {
	const [least, factor] = random() < 0.95 ? [20 * second, 30] : [600 * second, 6];
	const kind: JobKind = random() < 0.5 ? 'task' : 'video';
	const endsAt = now + Math.round(least * factor ** random());
	return {
		kind,
		endsAt,
		/** Whether the item of the job contains its kind. */
		isKindTold: random() < 0.9,
		fails: random() < 0.03,
		/** When its response has the link; for some jobs, this is seconds after the end. */
		linkedAt: endsAt + (random() < 0.02 ? Math.round(10 * second * random()) : 0),
		/** From a request to its response. */
		latency: 50 + Math.round(1500 * random() ** 3),
	};
}

/** A job, the wait for it, and what is known of both. */
class Waiting {
	private readonly job: ReturnType<typeof drawJob>;
	private state: PollerState;
	private now: number;
	polls = 0;
	private firstPolledAt = 0;
	/** How long after the end of the job the wait may notice it: an interval, and the delays since the last good poll. */
	private allowedDelay = 0;
	private isLastAnswerBad = false;
	/** When a response reported the success of the job. */
	private finishedAt = Infinity;
	/** Whether polls can report nothing more. The link of a video is in its job only if its content has failed. */
	private isKnown = false;
	/** How the wait ended, and which promises it broke. */
	end: 'finished' | 'failed' | 'timedOut' | 'linkNotFound' = 'finished';
	readonly broken: string[] = [];

	/** @param badShare the share of requests that fail: 0 to 1 */
	constructor(
		id: string,
		private readonly random: Random,
		private readonly mode: Mode,
		private readonly badShare: number,
	) {
		this.now = Math.round(random() * 60 * minute);
		this.job = drawJob(random, this.now);
		const { isKindTold, kind } = this.job;
		this.state = startWait(isKindTold ? { id, kind } : { id }, { now: this.now, timeout });
	}

	run(): this {
		// A wait that parks is stored before its first poll.
		const endsAt = this.mode === 'park' ? 0 : undefined;
		const { now } = this;
		let event: PollerEvent = { type: 'passStarted', now, delay: this.drawDelay(), endsAt };
		for (;;) {
			const { state, action } = step(this.state, event);
			if (action.do === 'poll') this.checkPoll();
			this.state = state;
			if (action.do === 'finish') return this;
			if (action.do === 'fail') return this.fail();
			event = this.next(action);
		}
	}

	/** The polls that the job needs when nothing fails and its kind is known: one at once, and one in each interval. */
	get faultlessPolls(): number {
		const { endsAt, kind, latency } = this.job;
		const between = this.mode === 'park' ? minute : jobKinds[kind].pollSeconds * second + latency;
		const needed = Math.min(endsAt, this.state.since + timeout) - this.firstPolledAt;
		return 1 + Math.max(0, Math.ceil(needed / between));
	}

	private drawDelay(): number {
		return Math.round(this.random() * maxSpread[this.mode]);
	}

	private next(action: Exclude<PollerAction, { do: 'finish' | 'fail' }>): PollerEvent {
		switch (action.do) {
			case 'wait':
				this.now = action.until;
				return { type: 'due', now: this.now };
			case 'park': {
				this.now = Math.max(action.until, Math.ceil(this.now / minute) * minute);
				const delay = this.drawDelay();
				this.allowedDelay += this.now - action.until + delay;
				return { type: 'passStarted', now: this.now, delay, endsAt: this.now };
			}
			default: {
				const sentAt = this.now;
				this.now += this.job.latency;
				const answer = this.answer(action, sentAt);
				this.checkAnswer(action, answer);
				return answer;
			}
		}
	}

	/** The response of the service, with the state of the job when the request arrived. */
	private answer(request: Request, sentAt: number): Answer {
		const { job, now, random } = this;
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
		return { type: 'polled', now, status: this.statusAt(sentAt) };
	}

	private statusAt(time: number) {
		const { kind, endsAt, fails, linkedAt } = this.job;
		if (time < endsAt) return statuses.running;
		if (fails) return statuses.failed;
		return kind === 'task' && time >= linkedAt ? statuses.completed : statuses.withoutLink;
	}

	private checkPoll(): void {
		const { lastPolledAt } = this.state;
		if (this.isKnown) this.broken.push('polled after its end');
		if (lastPolledAt === undefined) this.firstPolledAt = this.now;
		else if (this.now - lastPolledAt < minInterval) this.broken.push('polled too soon');
		this.polls++;
	}

	private checkAnswer(request: Request, answer: Answer): void {
		if (request.do !== 'poll') {
			this.isKnown = answer.type === 'contentReceived';
			return;
		}
		const { job, now } = this;
		const { latency } = job;
		const interval = jobKinds[request.kind].pollSeconds * second;
		this.isLastAnswerBad = answer.type !== 'polled';
		if (answer.type === 'requestFailed') {
			this.allowedDelay += latency + Math.max(interval, answer.error.failure.retryAfter ?? 0);
		} else if (answer.type === 'polled' && !isFinal(answer.status.phase)) {
			this.allowedDelay = latency + interval + latency;
		} else if (answer.type === 'polled') {
			const isFirst = this.state.stage.name !== 'linking';
			if (isFirst && now - job.endsAt > this.allowedDelay) this.broken.push('noticed too late');
			const { phase, link } = answer.status;
			if (phase === 'succeeded') this.finishedAt = Math.min(this.finishedAt, now);
			this.isKnown = phase === 'failed' || job.kind === 'video' || link !== undefined;
		}
	}

	private fail(): this {
		const { job, state, now } = this;
		const { status } = state.job;
		if (status === 'failed') this.end = 'failed';
		else if (status === 'completed') {
			this.end = 'linkNotFound';
			if (now < this.finishedAt + linkGrace) this.broken.push('lost its video');
		} else {
			this.end = 'timedOut';
			const hadEnded = job.endsAt <= (state.lastPolledAt ?? Infinity);
			const isEarly = now < state.since + timeout || (hadEnded && !this.isLastAnswerBad);
			if (isEarly) this.broken.push('lost its video');
		}
		return this;
	}
}

describe.each<Mode>(['hold', 'park'])('2,000 simulated jobs in mode %s', (mode) => {
	const simulate = (badShare: number) => {
		const random = randomFrom('1');
		const ids = Array.from({ length: 2000 }, (_, id) => `${id}`);
		return ids.map((id) => new Waiting(id, random, mode, badShare).run());
	};

	it('polls no job too often, notices every end in time and loses no job', () => {
		const waits = simulate(0.05);
		expect(waits.flatMap(({ broken }) => broken)).toEqual([]);
		for (const end of ['finished', 'failed', 'timedOut'])
			expect(waits.filter((wait) => wait.end === end).length).toBeGreaterThan(10);
	});

	it('polls the jobs no more often than needed when nothing fails', () => {
		const waits = simulate(0);
		expect(waits.filter(({ end }) => end === 'linkNotFound')).toEqual([]);
		const [polls, needed] = [waits.map((one) => one.polls), waits.map((one) => one.faultlessPolls)];
		// The 0.2 allows for jobs that are polled as the wrong kind first or have no link at once.
		const sumOf = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0);
		expect(sumOf(polls) / polls.length).toBeLessThan(sumOf(needed) / needed.length + 0.2);
	});
});
