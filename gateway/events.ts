import type { IncomingHttpHeaders } from 'node:http';
import type { endpoints } from '../nodes/shared/service/protocol/endpoints';
import type { FaultAction } from './faults/actions';
import type { Job } from './jobs';

/** An endpoint of the API host, or one of the two kinds of file on the storage host. */
export type Route = keyof typeof endpoints | 'download' | 'media';

/** The base URL, the backup URL, and the object storage. */
export type HostName = 'api' | 'backup' | 'storage';

/** One request to any host. */
export interface RecordedRequest {
	host: HostName;
	/** Undefined for a path that the service does not have. */
	route: Route | undefined;
	method: string;
	/** Path and query, as sent. */
	url: string;
	headers: IncomingHttpHeaders;
	/** The parsed JSON, or the fields of a form. */
	body?: unknown;
	/** When it arrived, in milliseconds since 1970, by the clock of the machine. */
	at: number;
	/** Undefined until the response is sent; it stays undefined when the response is lost. */
	status?: number;
	requestId: string;
	/** The job that it created or requested. */
	jobId?: string;
	/** The fault that it met. */
	fault?: FaultAction;
}

/** The events that a gateway emits. */
export interface GatewayEvents {
	/** A request is over: its response was sent, or its connection was lost. */
	request: [request: RecordedRequest];
	/** A job was created or has changed its phase. */
	job: [job: Job];
}
