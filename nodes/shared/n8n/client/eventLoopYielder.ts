import type { Clock } from '../../service/client/http';
import { clock } from './httpClient';

/** Milliseconds without a pause. A pause costs 1 ms, since n8n gives nodes only timers. */
const maxStretch = 25;

/** Thousands of items must not block Stop or other executions. */
export class EventLoopYielder {
	private since: number;

	constructor(private readonly time: Pick<Clock, 'now' | 'sleep'> = clock) {
		this.since = time.now();
	}

	/** To be awaited between two items of a loop. */
	async yieldIfDue(): Promise<void> {
		if (this.time.now() - this.since < maxStretch) return;
		await this.time.sleep(0);
		this.since = this.time.now();
	}
}
