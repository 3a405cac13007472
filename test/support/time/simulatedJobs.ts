import { unusableError } from '../../../nodes/shared/service/client/received';
import { Redaction } from '../../../nodes/shared/service/client/redaction';
import {
	UnusableResponse,
	type ServiceResponse,
} from '../../../nodes/shared/service/client/response';
import type { GatewayError } from '../../../nodes/shared/service/errors/gatewayError';
import {
	noResponse,
	refused,
	unreadable,
} from '../../../nodes/shared/service/errors/requestErrors';
import {
	jobStatus,
	videoContent,
	type JobStatus,
	type VideoContent,
} from '../../../nodes/shared/service/jobs/responses';
import type { JobSource } from '../../../nodes/shared/service/jobs/wait';
import type { JobKind } from '../../../nodes/shared/service/protocol/jobs';
import { answerOf } from '../data/answers';
import { nginxPage } from '../http/scriptedServer';
import type { SimulatedClock } from './simulatedClock';

/** One request to the service. Times are in milliseconds from the beginning. */
export interface Asked {
	what: JobKind | 'content';
	id: string;
	at: number;
	/** How many requests about this job came before. */
	before: number;
	/** How long the response may take. */
	timeout?: number;
}

/** The body of a response, or the error that the transport throws instead. */
export type Said = object | GatewayError;

export const link = 'https://storage.example/video.mp4';
export const running = { status: 'in_progress', progress: 30 };
export const completed = { status: 'completed', progress: 100, result_url: link };

const noKey = new Redaction('');
const what = { purpose: 'get the job status', cost: 'read' } as const;

export const lost = noResponse(
	what,
	Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }),
	noKey,
);
/** As Node.js refuses a certificate, before the request has a connection. */
export const untrusted = noResponse(
	what,
	Object.assign(new Error('self-signed certificate'), { request: { socket: null } }),
	noKey,
);
export const page = unreadable(what, { status: 200, headers: {}, text: '<html>' }, 'is a web page');

/** A refusal with the service's own error object. */
export function refusal(status: number, code?: string, retryAfter?: number): GatewayError {
	const text = JSON.stringify({ error: { message: 'no', code } });
	return refused(what, { status, headers: {}, text, retryAfter });
}

/** A refusal with the page of a proxy. */
export const proxyPage = (status: number): GatewayError =>
	refused(what, { status, headers: {}, text: nginxPage(status) });

/** The service as a wait sees it, in simulated time. */
export class SimulatedJobs implements JobSource {
	readonly asked: Asked[] = [];
	private readonly counts = new Map<string, number>();
	private readonly start: number;

	/** @param say the response of the service */
	constructor(
		private readonly clock: SimulatedClock,
		private readonly say: (asked: Asked) => Said,
	) {
		this.start = clock.now();
	}

	get times(): number[] {
		return this.asked.map(({ at }) => at);
	}

	/** The shortest time between two polls of one job. */
	get shortestGap(): number {
		const last = new Map<string, number>();
		let shortest = Infinity;
		for (const { what, id, at } of this.asked) {
			if (what === 'content') continue;
			shortest = Math.min(shortest, at - (last.get(id) ?? -Infinity));
			last.set(id, at);
		}
		return shortest;
	}

	async poll(kind: JobKind, id: string, { timeout }: Pick<Asked, 'timeout'>): Promise<JobStatus> {
		return parsed(await this.respond({ what: kind, id, timeout }), jobStatus);
	}

	async content(id: string): Promise<VideoContent> {
		return parsed(await this.respond({ what: 'content', id }), videoContent);
	}

	private async respond(request: Omit<Asked, 'at' | 'before'>): Promise<object> {
		const at = this.clock.now() - this.start;
		const before = this.counts.get(request.id) ?? 0;
		const asked = { ...request, at, before };
		this.counts.set(request.id, before + 1);
		this.asked.push(asked);
		const response = this.say(asked);
		if (response instanceof Error) throw response;
		return response;
	}
}

/** Reads a body as a gateway does. */
function parsed<T>(body: object, parse: (response: ServiceResponse) => T): T {
	const response = answerOf(body);
	try {
		return parse(response);
	} catch (error) {
		if (error instanceof UnusableResponse) throw unusableError(what, response, error, noKey);
		throw error;
	}
}

/** Gives one response after the other, and then repeats the last one. */
export function inTurn(...said: Said[]): (asked: Asked) => Said {
	return ({ before }) => said[Math.min(before, said.length - 1)];
}
