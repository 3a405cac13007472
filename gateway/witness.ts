import type { IRun } from 'n8n-workflow';
import { EventEmitter } from 'node:events';
import type { RecordedRequest } from '.';

interface Testimony {
	/** A key that must not leak, emitted before anything that could leak it. */
	key: [key: string];
	/** A request that one of our servers received. */
	request: [request: Pick<RecordedRequest, 'url' | 'headers' | 'body'> & { host?: string }];
	/** An execution as n8n stores it. */
	execution: [run: IRun];
}

/** Receives every key, every request and every execution of the test suite; see secrets.ts. */
export const witness = new EventEmitter<Testimony>();
