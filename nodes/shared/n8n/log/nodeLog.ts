import type { IExecuteFunctions } from 'n8n-workflow';
import type { Redaction } from '../../service/client/redaction';
import type { Failure, FailureKind } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import { asText, excerpt } from '../../service/json';

// docs/monitoring.md says what these names mean, and operators build alerts on them: never rename one.

/** The events of orders and waits, with n8n's log levels. */
export const events = {
	'order sent': 'info',
	'order created': 'info',
	'order completed': 'info',
	'order withdrawn': 'info',
	'order failed': 'warn',
	'order outcome unknown': 'warn',
	'order refused': 'warn',
	'model refused': 'warn',
	'store failed': 'warn',
	'wait parked': 'info',
	'wait resumed': 'info',
	'job progress': 'debug',
	'video delivered': 'info',
	'job failed': 'warn',
	'wait timed out': 'warn',
	'wait failed': 'warn',
	'download failed': 'warn',
	'node stopped': 'info',
} as const;

export type EventName = keyof typeof events;

/** In the order in which a line has them. */
export const facts = [
	...(['executionId', 'workflowId', 'workflowName', 'node', 'item', 'items', 'model'] as const),
	...(['jobId', 'jobStatus', 'progress', 'estimatedCost'] as const),
	...(['httpStatus', 'code', 'requestId', 'reach', 'reason', 'bytes', 'problem'] as const),
	...(['waitedSeconds', 'expectedSeconds'] as const),
];

type Values = Partial<Record<(typeof facts)[number], string | number>>;

/** Texts of the service are left out, because they may quote the prompt. */
export interface EventDetails extends Values {
	job?: JobSummary;
	/** Only its codes are logged. */
	failure?: Failure;
}

/**
 * The log of one run of a node. Message and metadata of a line have the same facts, since n8n prints only the message
 * unless it logs as JSON or into a file.
 */
export class NodeLog {
	/** @param redaction removes the key; without it, nothing is logged */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly redaction?: Pick<Redaction, 'text' | 'truncated'>,
	) {}

	/** A text, whoever chose it, as one bounded line without the key. */
	clean(text: string): string {
		if (!this.redaction) return '';
		// Invisible characters could hide the key, or show a line in the other direction.
		const read = text.slice(0, maxRead).replace(/\p{Cf}+/gu, '');
		const isCut = text.length > maxRead;
		return excerpt(isCut ? this.redaction.truncated(read) : this.redaction.text(read), maxLength);
	}

	/** Never fails: a log must not end an order. */
	write(event: EventName, details: EventDetails): void {
		if (!this.redaction) return;
		try {
			const values = { ...originOf(this.context), ...valuesOf(details) };
			const known: Values = {};
			for (const name of facts) {
				const value = values[name];
				if (typeof value === 'number') known[name] = value;
				else if (value) known[name] = this.clean(value);
			}
			const message = ['Model Gateway:', event, ...Object.entries(known).map(pairOf)].join(' ');
			this.context.logger[events[event]](message, { event, ...known });
		} catch {
			// The same facts are in the output or in the error, too.
		}
	}
}

/** Characters; IDs are shorter. */
const maxLength = 300;
/** A text may have megabytes. */
const maxRead = 1_000;

function originOf(context: IExecuteFunctions): Values {
	const { id, name } = context.getWorkflow();
	return {
		executionId: asText(context.getExecutionId()),
		workflowId: asText(id),
		workflowName: asText(name),
		node: context.getNode().name,
	};
}

function valuesOf({ job, failure, ...values }: EventDetails): Values {
	const { status, code, request_id, reach, kind } = failure ?? {};
	return {
		jobId: job?.id,
		jobStatus: asCode(job?.status),
		progress: job?.progress,
		httpStatus: status || undefined,
		code: asCode(code),
		requestId: request_id ?? job?.request_id,
		reach: reach === 'none' ? undefined : reach,
		problem: kind && storeProblems[kind],
		...values,
	};
}

const storeProblems: Partial<Record<FailureKind, string>> = {
	noSpace: 'no space left',
	notStored: 'n8n could not store the file',
};

/** A service may put anything into these fields, even the prompt. */
const asCode = (text = '') => (/^[\w.:-]{1,60}$/.test(text) ? text : undefined);

/** A value that is no single word is a JSON text. In a message with "%d", n8n would drop the metadata. */
function pairOf([name, value]: [string, string | number]): string {
	const isWord = typeof value === 'number' || /^[\w.:@/+-]+$/.test(value);
	return `${name}=${isWord ? value : JSON.stringify(value).replaceAll('%', '\\u0025')}`;
}
