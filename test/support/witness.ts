import type { IRun } from 'n8n-workflow';
import { EventEmitter } from 'node:events';
import type { RecordedRequest } from '../gateway';

interface Testimony {
	/** A key that must not show: told before anything that could show it. */
	key: [key: string];
	/** A request that a server of ours got. */
	request: [request: Pick<RecordedRequest, 'url' | 'headers' | 'body'> & { host?: string }];
	/** An execution as n8n would store it. */
	execution: [run: IRun];
}

/** Told of every key, every request and every execution of the suite; see secrets.ts. */
export const witness = new EventEmitter<Testimony>();
