import { EventEmitter } from 'node:events';
import type { IRun } from 'n8n-workflow';
import type { RecordedRequest } from '../gateway';

/** Something in which an API key could show where it must not. */
interface Testimony {
	/** A request that one of our servers got, and the keys that it knows. */
	request: [
		request: Pick<RecordedRequest, 'url' | 'headers' | 'body'> & { host?: string },
		keys: string[],
	];
	/** An execution as n8n would store it, and what is in its credentials. */
	execution: [run: IRun, keys: string[]];
}

/** Told of every request and every execution of the suite; see secrets.ts. */
export const witness = new EventEmitter<Testimony>();
