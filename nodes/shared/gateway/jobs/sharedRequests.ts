import type { Clock } from '../client/http';
import { isFinal } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import type { JobStatus, VideoContent } from './responses';
import type { JobSource } from './wait';

const minInterval = limits.minPollSeconds * 1000;

/**
 * What all waits of one run ask for. Waits for the same job share its responses and failures, so that the job is
 * polled no more often than the service allows, however many there are ("Limits"). A final state serves them all.
 */
export class SharedRequests {
	private readonly polls: Latest<JobStatus>;
	private readonly contents: Latest<VideoContent>;
	/** By the ID of a job: when its last poll ends, in milliseconds since 1970. */
	private readonly pollEnds = new Map<string, Promise<number>>();

	constructor(private readonly clock: Clock) {
		this.polls = new Latest(clock, ({ phase }) => isFinal(phase));
		this.contents = new Latest(clock, () => false);
	}

	/** The source for one wait. @param signal of that wait */
	sharing(source: JobSource, signal?: AbortSignal): JobSource {
		const givenPolls: Given<JobStatus> = new Map();
		const givenContents: Given<VideoContent> = new Map();
		return {
			poll: async (kind, id, ...times) => {
				const send = async () => await source.poll(kind, id, ...times);
				const key = `${kind} ${id}`;
				return await this.polls.get(key, givenPolls, () => this.spaced(id, send, signal));
			},
			content: async (id) => await this.contents.get(id, givenContents, () => source.content(id)),
		};
	}

	/** Two waits may take one job for a task and for a video: their polls, too, follow one another at intervals. */
	private async spaced<T>(id: string, send: () => Promise<T>, signal?: AbortSignal): Promise<T> {
		const earlier = this.pollEnds.get(id);
		const sendInTurn = async () => {
			const wait = earlier ? (await earlier) + minInterval - this.clock.now() : 0;
			if (wait > 0) await this.clock.sleep(wait, signal);
			return await send();
		};
		const response = sendInTurn();
		const end = () => this.clock.now();
		this.pollEnds.set(id, response.then(end, end));
		return await response;
	}
}

interface Request<T> {
	response: Promise<T>;
	/** Milliseconds since 1970; undefined while it is under way. */
	endedAt?: number;
	/** Whether no later response can say anything else. */
	isFinal?: boolean;
}

/** By what was asked for, the request whose response one wait has got last. */
type Given<T> = Map<string, Request<T>>;

/** The latest request for each thing. */
class Latest<T> {
	private readonly requests = new Map<string, Request<T>>();

	constructor(
		private readonly clock: Clock,
		private readonly isFinal: (response: T) => boolean,
	) {}

	/** @param given to the wait before; it asks again because it needs a later one */
	async get(key: string, given: Given<T>, send: () => Promise<T>): Promise<T> {
		const latest = this.requests.get(key);
		const isNew = latest !== undefined && latest !== given.get(key);
		const request = isNew && this.serves(latest, given.get(key)) ? latest : this.begin(key, send);
		given.set(key, request);
		return await request.response;
	}

	private serves({ endedAt, isFinal }: Request<T>, last?: Request<T>): boolean {
		if (endedAt === undefined || this.clock.now() - endedAt < minInterval) return true;
		// A wait that knows the final state needs a fresh link.
		return isFinal === true && last?.isFinal !== true;
	}

	private begin(key: string, send: () => Promise<T>): Request<T> {
		const request: Request<T> = { response: send() };
		const end = () => void (request.endedAt = this.clock.now());
		request.response.then((response) => {
			request.isFinal = this.isFinal(response);
			end();
		}, end);
		this.requests.set(key, request);
		return request;
	}
}
