import {
	startWait,
	step,
	type PollerAction,
	type PollerEvent,
	type PollerState,
} from '../../../../nodes/shared/gateway/jobs/poller';
import { jobKinds } from '../../../../nodes/shared/gateway/protocol/jobs';
import { isFinal } from '../../../../nodes/shared/gateway/protocol/jobs';
import { limits } from '../../../../nodes/shared/gateway/protocol/limits';
import { randomFrom, type Random } from '../../../../gateway/random';
import { sum } from '../../data/statistics';
import { Agenda } from './agenda';
import { SimulatedService, type Answer, type Request, type ServiceJob } from './service';

/** `hold` keeps running to the end; `park` leaves polls to passes that n8n begins once a minute. */
export type Mode = 'hold' | 'park';

interface Settings {
	jobs: number;
	/** The seed from which the jobs and the faults are drawn. */
	seed: string;
	/** The jobs begin one after the other, evenly spread over these hours. */
	hours: number;
	mode: Mode;
	/** The share of requests that fail: 0 to 1. */
	badShare?: number;
}

/** The results of the waits. Times in milliseconds. */
export interface Outcome {
	/** How many jobs ended in each way. */
	ends: Record<'finished' | 'failed' | 'timedOut' | 'linkNotFound', number>;
	/** How often a promise was broken. */
	broken: Record<'pollTooSoon' | 'pollAfterEnd' | 'noticedTooLate' | 'jobLost', number>;
	/** The maximum number of jobs waited for at the same time. */
	maxAtOnce: number;
	/** The shortest time between two polls of one job. */
	shortestGap: number;
	/** The polls of each job. */
	polls: number[];
	/** The polls that each job needs when nothing fails and its kind is known: one at once, and one in each interval. */
	faultlessPolls: number[];
	/** The time from the end of each job to the response that reports it. */
	delays: number[];
}

/** A job, the wait for it, and what is known of both. Times in milliseconds. */
interface Waiting {
	job: ServiceJob;
	state: PollerState;
	/** What happens next. */
	next: 'due' | 'passStarted';
	polls: number;
	firstPolledAt: number;
	/** How long after the end of the job the wait may notice it: an interval, and the delays since the last good poll. */
	allowedDelay: number;
	isLastAnswerBad: boolean;
	/** When a response reported the success of the job; undefined until then. */
	finishedAt?: number;
	/** Whether polls can report nothing more. The link of a video is in its job only if its content has failed. */
	isKnown: boolean;
}

const second = 1000;
const minute = 60 * second;
const timeout = limits.waitMinutes * minute;
const minInterval = limits.minPollSeconds * second;

/** How far the first polls of a pass are spread, as with many jobs in one node. */
const maxSpread = { hold: 200, park: minInterval };

/** How long a wait looks for the link of a finished job. */
const linkGrace = minute;

/** Drives the pollers of many jobs side by side, in simulated time, and counts the results. */
export function simulate(settings: Settings): Outcome {
	return new Simulation(settings).run();
}

class Simulation {
	private readonly random: Random;
	private readonly service: SimulatedService;
	private readonly agenda = new Agenda<Waiting>();
	private readonly outcome: Outcome = {
		ends: { finished: 0, failed: 0, timedOut: 0, linkNotFound: 0 },
		broken: { pollTooSoon: 0, pollAfterEnd: 0, noticedTooLate: 0, jobLost: 0 },
		...{ maxAtOnce: 0, shortestGap: Infinity },
		...{ polls: [], faultlessPolls: [], delays: [] },
	};

	constructor(private readonly settings: Settings) {
		this.random = randomFrom(settings.seed);
		this.service = new SimulatedService(this.random, settings.badShare);
	}

	run(): Outcome {
		const { agenda, outcome } = this;
		const { jobs, hours } = this.settings;
		const spacing = (hours * 60 * minute) / jobs;
		for (let begun = 0; begun < jobs || agenda.size > 0;) {
			const nextJob = begun < jobs ? Math.round(begun * spacing) : Infinity;
			const now = agenda.nextTime;
			if (nextJob < now) this.begin(`${begun++}`, nextJob);
			else this.resume(agenda.takeNext(), now);
			outcome.maxAtOnce = Math.max(outcome.maxAtOnce, agenda.size);
		}
		outcome.broken.jobLost += jobs - sum(Object.values(outcome.ends));
		return outcome;
	}

	private begin(id: string, now: number): void {
		const job = this.service.drawJob(now);
		const state = startWait(job.isKindTold ? { id, kind: job.kind } : { id }, { now, timeout });
		const waiting: Waiting = {
			job,
			state,
			next: 'passStarted',
			polls: 0,
			firstPolledAt: now,
			allowedDelay: 0,
			isLastAnswerBad: false,
			isKnown: false,
		};
		// A wait that parks is stored before its first poll.
		const endsAt = this.settings.mode === 'park' ? 0 : undefined;
		this.drive(waiting, { type: 'passStarted', now, delay: this.drawDelay(), endsAt }, now);
	}

	private resume(waiting: Waiting, now: number): void {
		if (waiting.next === 'due') return this.drive(waiting, { type: 'due', now }, now);
		const delay = this.drawDelay();
		waiting.allowedDelay += delay;
		this.drive(waiting, { type: 'passStarted', now, delay, endsAt: now }, now);
	}

	private drawDelay(): number {
		return Math.round(this.random() * maxSpread[this.settings.mode]);
	}

	/** Runs until time has to pass, or the wait is over. During a request, this job is ahead of the others in time. */
	private drive(waiting: Waiting, first: PollerEvent, begin: number): void {
		for (let event = first, now = begin; ;) {
			const { state, action } = step(waiting.state, event);
			if (action.do === 'poll') this.checkPoll(waiting, now);
			waiting.state = state;
			switch (action.do) {
				case 'wait':
					waiting.next = 'due';
					return this.agenda.add(action.until, waiting);
				case 'park': {
					const pass = Math.max(action.until, Math.ceil(now / minute) * minute);
					waiting.allowedDelay += pass - action.until;
					waiting.next = 'passStarted';
					return this.agenda.add(pass, waiting);
				}
				case 'finish':
				case 'fail':
					return this.end(waiting, action, now);
				default: {
					const sentAt = now;
					now += waiting.job.latency;
					const answer = this.service.answer(waiting.job, action, { sentAt, now });
					this.checkAnswer(waiting, action, { answer, now });
					event = answer;
				}
			}
		}
	}

	private checkPoll(waiting: Waiting, now: number): void {
		const { broken } = this.outcome;
		const { lastPolledAt } = waiting.state;
		if (waiting.isKnown) broken.pollAfterEnd++;
		if (lastPolledAt === undefined) waiting.firstPolledAt = now;
		else {
			const gap = now - lastPolledAt;
			this.outcome.shortestGap = Math.min(this.outcome.shortestGap, gap);
			if (gap < minInterval) broken.pollTooSoon++;
		}
		waiting.polls++;
	}

	private checkAnswer(
		waiting: Waiting,
		request: Request,
		{ answer, now }: { answer: Answer; now: number },
	): void {
		if (request.do !== 'poll') {
			waiting.isKnown = answer.type === 'contentReceived';
			return;
		}
		const { job } = waiting;
		const { latency } = job;
		const interval = jobKinds[request.kind].pollSeconds * second;
		waiting.isLastAnswerBad = answer.type !== 'polled';
		if (answer.type === 'requestFailed') {
			waiting.allowedDelay += latency + Math.max(interval, answer.error.failure.retryAfter ?? 0);
		} else if (answer.type === 'polled' && !isFinal(answer.status.phase)) {
			waiting.allowedDelay = latency + interval + latency;
		} else if (answer.type === 'polled') {
			const isFirst = waiting.state.stage.name !== 'linking';
			const delay = now - job.endsAt;
			if (isFirst) this.outcome.delays.push(delay);
			if (isFirst && delay > waiting.allowedDelay) this.outcome.broken.noticedTooLate++;
			const { phase, link } = answer.status;
			if (phase === 'succeeded') waiting.finishedAt ??= now;
			waiting.isKnown = phase === 'failed' || job.kind === 'video' || link !== undefined;
		}
	}

	private end(
		{ job, state, polls, firstPolledAt, isLastAnswerBad, finishedAt = Infinity }: Waiting,
		action: Extract<PollerAction, { do: 'finish' | 'fail' }>,
		now: number,
	): void {
		const { ends, broken, polls: all, faultlessPolls } = this.outcome;
		const { status } = state.job;
		const deadline = state.since + timeout;
		if (action.do === 'finish') ends.finished++;
		else if (status === 'failed') ends.failed++;
		else if (status === 'completed') {
			ends.linkNotFound++;
			if (now < finishedAt + linkGrace) broken.jobLost++;
		} else {
			ends.timedOut++;
			const hadEnded = job.endsAt <= (state.lastPolledAt ?? Infinity);
			if (now < deadline || (hadEnded && !isLastAnswerBad)) broken.jobLost++;
		}
		all.push(polls);
		const between =
			this.settings.mode === 'park'
				? minute
				: jobKinds[job.kind].pollSeconds * second + job.latency;
		const needed = Math.min(job.endsAt, deadline) - firstPolledAt;
		faultlessPolls.push(1 + Math.max(0, Math.ceil(needed / between)));
	}
}
