import type { Clock } from '../../service/client/http';
import { clock } from './httpClient';

/** Milliseconds that a loop may run without a pause. A pause costs 1 ms, since n8n gives nodes nothing but timers. */
const maxStretch = 25;

/** Yields to the event loop during long loops, so that thousands of items do not block Stop or other executions. */
export class EventLoopYielder {
	private since: number;

	constructor(private readonly time: Pick<Clock, 'now' | 'sleep'> = clock) {
		this.since = time.now();
	}

	/** To be awaited between two items of a loop. Yields only when the loop has run long enough. */
	async yieldIfDue(): Promise<void> {
		if (this.time.now() - this.since < maxStretch) return;
		await this.time.sleep(0);
		this.since = this.time.now();
	}
}
