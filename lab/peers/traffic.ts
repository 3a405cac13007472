import type { Server } from 'node:http';
import type { Gateway } from '../../gateway';
import { adaptorHeader } from './alibaba';

/** The bytes and requests that a server received. */
export interface Counts {
	requests: number;
	/** Requests for the state of a job. */
	polls: number;
	/** The maximum of requests under way at the same time. */
	maxAtOnce: number;
	charges: number;
}

interface Visit {
	from: number;
	/** Milliseconds since 1970. */
	to: number;
	isPoll: boolean;
}

/** Counts the requests to a gateway, except an adaptor's own ones. */
export class Traffic {
	private visits: Visit[] = [];
	private charged = 0;

	constructor(private readonly gateway: Gateway) {
		gateway.on('request', ({ at, route, headers }) => {
			if (headers[adaptorHeader] !== undefined) return;
			this.visits.push({ from: at, to: Date.now(), isPoll: route === 'video' || route === 'task' });
		});
	}

	/** Also counts the requests to another server. */
	watch(server: Server): void {
		server.on('request', (_, response) => {
			const from = Date.now();
			response.once('close', () => this.visits.push({ from, to: Date.now(), isPoll: false }));
		});
	}

	/** @returns the counts since the last call */
	take(): Counts {
		const { visits, charged } = this;
		this.visits = [];
		this.charged = this.gateway.ledger.length;
		return {
			requests: visits.length,
			polls: visits.filter(({ isPoll }) => isPoll).length,
			maxAtOnce: maxAtOnce(visits),
			charges: this.charged - charged,
		};
	}
}

function maxAtOnce(visits: Visit[]): number {
	const changes = visits.flatMap(({ from, to }) => [
		{ at: from, by: 1 },
		{ at: to, by: -1 },
	]);
	let [now, max] = [0, 0];
	for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) {
		now += by;
		max = Math.max(max, now);
	}
	return max;
}
