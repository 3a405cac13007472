import type { RecordedRequest, Route } from '../events';
import type { FaultAction } from './actions';

/** The requests that meet a fault, and its effect. */
export type FaultRule = FaultAction & {
	route: Route;
	/** How many requests it hits. Default: 1. */
	times?: number;
	/** How many matching requests pass before the first hit. */
	skip?: number;
	/** Limits the fault to some requests of the route. */
	when?(request: RecordedRequest): boolean;
};

export interface FaultHandle {
	/** How many requests it has hit. */
	readonly hits: number;
	/** Removes the fault. */
	remove(): void;
}

interface ArmedFault {
	rule: FaultRule;
	passed: number;
	hits: number;
}

/** The active faults. A request meets at most one: the oldest with hits left. */
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

	/** Counts the request, and returns the action that it meets. */
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
