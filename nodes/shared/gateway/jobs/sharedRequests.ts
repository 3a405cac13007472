import type { Clock } from '../client/http';
import { isFinal, jobKinds } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import type { JobStatus, VideoContent } from './responses';
import type { JobSource } from './wait';

const minInterval = limits.minPollSeconds * 1000;

/**
 * The requests of all waits of one run. Waits for the same job share its responses and failures, so that the job is
 * polled no more often than by one wait. A final state is shared with all of them.
 */
export class SharedRequests {
	private readonly polls: LatestRequests<JobStatus>;
	private readonly contents: LatestRequests<VideoContent>;

	constructor(clock: Clock) {
		this.polls = new LatestRequests(clock, ({ phase }) => isFinal(phase));
		this.contents = new LatestRequests(clock, () => false);
	}

	/** The source for one wait. */
	sharedSource(source: JobSource): JobSource {
		const lastPolls: LastReceived<JobStatus> = new Map();
		const lastContents: LastReceived<VideoContent> = new Map();
		return {
			poll: async (kind, id, ...times) => {
				const send = async () => await source.poll(kind, id, ...times);
				// A wait that joins later polls together with the others from then on.
				const freshness = 1000 * jobKinds[kind].pollSeconds;
				const request = this.polls.get(`${kind} ${id}`, lastPolls, send, freshness);
				const status = await request.response;
				return request.isFinal ? status : { ...status, receivedAt: request.endedAt };
			},
			content: async (id) => {
				const send = async () => await source.content(id);
				return await this.contents.get(id, lastContents, send).response;
			},
		};
	}
}

interface Request<T> {
	response: Promise<T>;
	/** Milliseconds since 1970; undefined while it is in progress. */
	endedAt?: number;
	/** Whether no later response can differ; undefined without a usable response. */
	isFinal?: boolean;
}

/** The requests whose responses one wait received last, by their keys. */
type LastReceived<T> = Map<string, Request<T>>;

/** The latest request for each key. */
class LatestRequests<T> {
	private readonly requests = new Map<string, Request<T>>();

	constructor(
		private readonly clock: Clock,
		private readonly isFinal: (response: T) => boolean,
	) {}

	/**
	 * @param lastReceived what the wait already has: it needs a later response
	 * @param freshness milliseconds for which a response is fresh enough for a wait that has none yet
	 */
	get(
		key: string,
		lastReceived: LastReceived<T>,
		send: () => Promise<T>,
		freshness = minInterval,
	): Request<T> {
		const latest = this.requests.get(key);
		const last = lastReceived.get(key);
		const isNew = latest !== undefined && latest !== last;
		const request =
			isNew && this.canReuse(latest, freshness, last) ? latest : this.start(key, send);
		lastReceived.set(key, request);
		return request;
	}

	private canReuse(
		{ endedAt, isFinal }: Request<T>,
		freshness: number,
		last?: Request<T>,
	): boolean {
		if (endedAt === undefined) return true;
		const maxAge = last === undefined && isFinal !== undefined ? freshness : minInterval;
		if (this.clock.now() - endedAt < maxAge) return true;
		// A wait that knows the final state needs a fresh link.
		return isFinal === true && last?.isFinal !== true;
	}

	private start(key: string, send: () => Promise<T>): Request<T> {
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
