import type { EventEmitter } from 'node:events';
import { inspect } from 'node:util';
import type { GatewayEvents, RecordedRequest } from './events';
import type { Job } from './jobs';

/** Maximum number of characters of a body that a line shows. */
const shownBody = 200;

/** Writes a line for every request and for every step of a job. */
export function logEvents(
	events: Pick<EventEmitter<GatewayEvents>, 'on'>,
	write: (text: string) => void,
): void {
	events.on('request', (request) => write(`${time()}  ${describeRequest(request)}\n`));
	events.on('job', (job) => write(`${time()}  ${describeJob(job)}\n`));
}

function describeRequest({ method, url, status, requestId, fault, body }: RecordedRequest): string {
	const shown = inspect(body, { breakLength: Infinity, depth: 5 }).slice(0, shownBody);
	return [
		status ?? 'no response',
		`${method} ${url.split('?', 1)[0]}`,
		requestId,
		...(fault ? [`fault: ${inspect(fault)}`] : []),
		...(body === undefined ? [] : [shown]),
	].join('  ');
}

const describeJob = ({ id, order, phase, progress, error }: Job): string =>
	[`job  ${id}`, order.model, phase, `${progress}%`, error && JSON.stringify(error)]
		.filter(Boolean)
		.join('  ');

const time = (): string => new Date().toTimeString().slice(0, 8);
