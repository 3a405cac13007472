import type { Server } from 'node:http';
import type { Gateway } from '../../gateway';
import { adaptorHeader } from './alibaba';

/** What a server met. */
export interface Counts {
	requests: number;
	/** Requests for the state of a job. */
	polls: number;
	/** The most requests that were under way at the same time. */
	mostAtOnce: number;
	charges: number;
}

interface Visit {
	from: number;
	/** Milliseconds since 1970. */
	to: number;
	isPoll: boolean;
}

/** Counts what a gateway meets; what an adaptor asks for itself does not count. */
export class Traffic {
	private visits: Visit[] = [];
	private charged = 0;

	constructor(private readonly gateway: Gateway) {
		gateway.on('request', ({ at, route, headers }) => {
			if (headers[adaptorHeader] !== undefined) return;
			this.visits.push({ from: at, to: Date.now(), isPoll: route === 'video' || route === 'task' });
		});
	}

	/** Counts another server's requests, too. */
	watch(server: Server): void {
		server.on('request', (_, response) => {
			const from = Date.now();
			response.once('close', () => this.visits.push({ from, to: Date.now(), isPoll: false }));
		});
	}

	/** Gives the counts since it was last called. */
	take(): Counts {
		const { visits, charged } = this;
		this.visits = [];
		this.charged = this.gateway.ledger.length;
		return {
			requests: visits.length,
			polls: visits.filter(({ isPoll }) => isPoll).length,
			mostAtOnce: mostAtOnce(visits),
			charges: this.charged - charged,
		};
	}
}

function mostAtOnce(visits: Visit[]): number {
	const changes = visits.flatMap(({ from, to }) => [
		{ at: from, by: 1 },
		{ at: to, by: -1 },
	]);
	let [now, most] = [0, 0];
	for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) {
		now += by;
		most = Math.max(most, now);
	}
	return most;
}
