import type { Clock } from '../../gateway/client/http';
import { clock } from './httpClient';

/** Milliseconds that a loop may take at a stretch. Each turn costs another one, since n8n gives nodes timers only. */
const maxStretch = 25;

/**
 * Lets the event loop turn in the midst of long loops, so that thousands of items keep neither Stop nor other
 * executions waiting.
 */
export class Turns {
	private since: number;

	constructor(private readonly time: Pick<Clock, 'now' | 'sleep'> = clock) {
		this.since = time.now();
	}

	/** To be awaited between two items of a loop. */
	async next(): Promise<void> {
		if (this.time.now() - this.since < maxStretch) return;
		await this.time.sleep(0);
		this.since = this.time.now();
	}
}
