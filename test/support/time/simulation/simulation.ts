import {
	startWait,
	step,
	type PollerAction,
	type PollerEvent,
	type PollerState,
} from '../../../../nodes/shared/service/jobs/poller';
import { isFinal, jobKinds } from '../../../../nodes/shared/service/protocol/jobs';
import { limits } from '../../../../nodes/shared/service/protocol/limits';
import { randomFrom, type Random } from '../../../../gateway/random';
import { SimulatedService, type Answer, type Request, type ServiceJob } from './service';

/** `hold` keeps running to the end; `park` leaves polls to passes that n8n begins once a minute. */
export type Mode = 'hold' | 'park';

interface Settings {
	jobs: number;
	/** The seed from which the jobs and the faults are drawn. */
	seed: string;
	mode: Mode;
	/** The share of requests that fail: 0 to 1. */
	badShare?: number;
}

/** The results of the waits. Times in milliseconds. */
interface Outcome {
	/** How many jobs ended in each way. */
	ends: Record<'finished' | 'failed' | 'timedOut' | 'linkNotFound', number>;
	/** How often a promise was broken. */
	broken: Record<'pollTooSoon' | 'pollAfterEnd' | 'noticedTooLate' | 'jobLost', number>;
	/** The polls of each job. */
	polls: number[];
	/** The polls that each job needs when nothing fails and its kind is known: one at once, and one in each interval. */
	faultlessPolls: number[];
}

const second = 1000;
const minute = 60 * second;
const timeout = limits.waitMinutes * minute;
const minInterval = limits.minPollSeconds * second;

/** How far the first polls of a pass are spread, as with many jobs in one node. */
const maxSpread = { hold: 200, park: minInterval };

/** How long a wait looks for the link of a finished job. */
const linkGrace = minute;

/** Drives the pollers of many jobs in simulated time, and counts the results. */
export function simulate({ jobs, seed, mode, badShare }: Settings): Outcome {
	const random = randomFrom(seed);
	const service = new SimulatedService(random, badShare);
	const outcome: Outcome = {
		ends: { finished: 0, failed: 0, timedOut: 0, linkNotFound: 0 },
		broken: { pollTooSoon: 0, pollAfterEnd: 0, noticedTooLate: 0, jobLost: 0 },
		...{ polls: [], faultlessPolls: [] },
	};
	for (let id = 0; id < jobs; id++) new Waiting(`${id}`, { mode, random, service, outcome }).run();
	return outcome;
}

interface World {
	mode: Mode;
	random: Random;
	service: SimulatedService;
	outcome: Outcome;
}

/** A job, the wait for it, and what is known of both. Times in milliseconds. */
class Waiting {
	private readonly job: ServiceJob;
	private state: PollerState;
	private now: number;
	private polls = 0;
	private firstPolledAt = 0;
	/** How long after the end of the job the wait may notice it: an interval, and the delays since the last good poll. */
	private allowedDelay = 0;
	private isLastAnswerBad = false;
	/** When a response reported the success of the job. */
	private finishedAt = Infinity;
	/** Whether polls can report nothing more. The link of a video is in its job only if its content has failed. */
	private isKnown = false;

	constructor(
		id: string,
		private readonly world: World,
	) {
		this.now = Math.round(world.random() * 60 * minute);
		this.job = world.service.drawJob(this.now);
		const { isKindTold, kind } = this.job;
		this.state = startWait(isKindTold ? { id, kind } : { id }, { now: this.now, timeout });
	}

	/** Runs until the wait is over. */
	run(): void {
		// A wait that parks is stored before its first poll.
		const endsAt = this.world.mode === 'park' ? 0 : undefined;
		let event: PollerEvent = {
			type: 'passStarted',
			now: this.now,
			delay: this.drawDelay(),
			endsAt,
		};
		for (;;) {
			const { state, action } = step(this.state, event);
			if (action.do === 'poll') this.checkPoll();
			this.state = state;
			if (action.do === 'finish' || action.do === 'fail') return this.end(action);
			event = this.next(action);
		}
	}

	private drawDelay(): number {
		return Math.round(this.world.random() * maxSpread[this.world.mode]);
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
				const answer = this.world.service.answer(this.job, action, { sentAt, now: this.now });
				this.checkAnswer(action, answer);
				return answer;
			}
		}
	}

	private checkPoll(): void {
		const { broken } = this.world.outcome;
		const { lastPolledAt } = this.state;
		if (this.isKnown) broken.pollAfterEnd++;
		if (lastPolledAt === undefined) this.firstPolledAt = this.now;
		else if (this.now - lastPolledAt < minInterval) broken.pollTooSoon++;
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
			if (isFirst && now - job.endsAt > this.allowedDelay)
				this.world.outcome.broken.noticedTooLate++;
			const { phase, link } = answer.status;
			if (phase === 'succeeded') this.finishedAt = Math.min(this.finishedAt, now);
			this.isKnown = phase === 'failed' || job.kind === 'video' || link !== undefined;
		}
	}

	private end(action: Extract<PollerAction, { do: 'finish' | 'fail' }>): void {
		const { job, state, now } = this;
		const { ends, broken, polls, faultlessPolls } = this.world.outcome;
		const { status } = state.job;
		const deadline = state.since + timeout;
		if (action.do === 'finish') ends.finished++;
		else if (status === 'failed') ends.failed++;
		else if (status === 'completed') {
			ends.linkNotFound++;
			if (now < this.finishedAt + linkGrace) broken.jobLost++;
		} else {
			ends.timedOut++;
			const hadEnded = job.endsAt <= (state.lastPolledAt ?? Infinity);
			if (now < deadline || (hadEnded && !this.isLastAnswerBad)) broken.jobLost++;
		}
		polls.push(this.polls);
		const between =
			this.world.mode === 'park' ? minute : jobKinds[job.kind].pollSeconds * second + job.latency;
		const needed = Math.min(job.endsAt, deadline) - this.firstPolledAt;
		faultlessPolls.push(1 + Math.max(0, Math.ceil(needed / between)));
	}
}
