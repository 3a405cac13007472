import type { RecordedRequest, Route } from '../events';
import type { FaultAction } from './actions';

/** Which requests meet a fault, and what it does to them. */
export type FaultRule = FaultAction & {
	route: Route;
	/** How many requests it hits; 1 by default. */
	times?: number;
	/** How many matching requests it lets pass first. */
	skip?: number;
	/** Narrows it to some requests of the route. */
	when?(request: RecordedRequest): boolean;
};

export interface FaultHandle {
	/** How many requests it has hit. */
	readonly hits: number;
	/** Ends it. */
	remove(): void;
}

interface ArmedFault {
	rule: FaultRule;
	passed: number;
	hits: number;
}

/** The faults in force. A request meets at most one: the oldest that still has hits to give. */
export class Faults {
	private armed: ArmedFault[] = [];

	add(rule: FaultRule): FaultHandle {
		const fault: ArmedFault = { rule, passed: 0, hits: 0 };
		this.armed.push(fault);
		return {
			get hits() {
				return fault.hits;
			},
			remove: () => {
				this.armed = this.armed.filter((other) => other !== fault);
			},
		};
	}

	/** Counts the request, and gives the action that it meets. */
	take(request: RecordedRequest): FaultAction | undefined {
		for (const fault of this.armed) {
			const { route, times = 1, skip = 0, when = () => true } = fault.rule;
			if (route !== request.route || fault.hits >= times || !when(request)) continue;
			if (fault.passed < skip) {
				fault.passed++;
				continue;
			}
			fault.hits++;
			return fault.rule;
		}
		return undefined;
	}
}
