import type { Clock } from '../client/http';
import { isFinal, jobKinds } from '../protocol/jobs';
import { limits } from '../protocol/limits';
import type { JobStatus, VideoContent } from './responses';
import type { JobSource } from './wait';

const minInterval = limits.minPollSeconds * 1000;

/**
 * What all waits of one run ask for. Waits for the same job share its responses and failures, so that the job is
 * polled as often as by one of them, however many there are. A final state serves them all.
 */
export class SharedRequests {
	private readonly polls: LatestRequests<JobStatus>;
	private readonly contents: LatestRequests<VideoContent>;

	constructor(clock: Clock) {
		this.polls = new LatestRequests(clock, ({ phase }) => isFinal(phase));
		this.contents = new LatestRequests(clock, () => false);
	}

	/** The source for one wait. */
	sharing(source: JobSource): JobSource {
		const lastPolls: LastReceived<JobStatus> = new Map();
		const lastContents: LastReceived<VideoContent> = new Map();
		return {
			poll: async (kind, id, ...times) => {
				const send = async () => await source.poll(kind, id, ...times);
				// Who joins late polls together with the others from then on.
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
	/** Milliseconds since 1970; undefined while it is under way. */
	endedAt?: number;
	/** Whether no later response can say anything else; undefined without a usable one. */
	isFinal?: boolean;
}

/** By what was asked for, the request whose response one wait has got last. */
type LastReceived<T> = Map<string, Request<T>>;

/** The latest request for each thing. */
class LatestRequests<T> {
	private readonly requests = new Map<string, Request<T>>();

	constructor(
		private readonly clock: Clock,
		private readonly isFinal: (response: T) => boolean,
	) {}

	/**
	 * @param lastReceived to the wait before; it asks again because it needs a later one
	 * @param freshness milliseconds for which a response serves a wait that has none of them yet
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
