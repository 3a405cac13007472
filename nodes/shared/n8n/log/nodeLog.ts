import type { IExecuteFunctions } from 'n8n-workflow';
import type { Redaction } from '../../service/client/redaction';
import type { Failure, FailureKind } from '../../service/errors/gatewayError';
import type { JobSummary } from '../../service/errors/jobSummary';
import { asText, excerpt, withoutUndefined } from '../../service/json';
import { events, facts, type EventName, type FactName } from './events';

/** What an event is about. Texts of the service are left out, because they may quote the prompt. */
export interface EventDetails extends Partial<
	Record<'model' | 'reason' | 'problem', string> &
		Record<'item' | 'items' | 'estimatedCost' | 'bytes', number>
> {
	job?: JobSummary;
	/** Only its codes are logged. */
	failure?: Failure;
}

type KeyRedaction = Pick<Redaction, 'text' | 'truncated'>;

type Values = Partial<Record<FactName, string | number>>;

/**
 * The log of one run of a node: one line for each event. n8n prints only the message of a line, unless it logs as JSON
 * or into a file. So the message and the metadata have the same facts.
 */
export class NodeLog {
	/** The same in all lines. */
	private origin?: Values;

	/** @param redaction removes the key; without it, nothing is logged */
	constructor(
		private readonly context: IExecuteFunctions,
		private readonly redaction?: KeyRedaction,
	) {}

	/** A text that somebody else wrote, such as n8n's database, as one line without the key. */
	clean(text: string): string {
		return this.redaction ? cleanText(text, this.redaction) : '';
	}

	/** Never fails: a log must not end an order. */
	write(event: EventName, details: EventDetails): void {
		const { context, redaction } = this;
		if (!redaction) return;
		try {
			this.origin ??= cleaned(originOf(context), redaction);
			const values = { ...this.origin, ...cleaned(valuesOf(details), redaction) };
			context.logger[events[event].level](lineOf(event, values), { event, ...values });
		} catch {
			// What it would have said is in the output or in the error, too.
		}
	}
}

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
	return {
		...values,
		...(job && {
			jobId: job.id,
			jobStatus: asCode(job.status),
			progress: job.progress,
			requestId: job.request_id,
		}),
		...(failure && valuesOfFailure(failure)),
	};
}

function valuesOfFailure({ status, code, request_id, reach, kind }: Failure): Values {
	return withoutUndefined({
		httpStatus: status || undefined,
		code: asCode(code),
		requestId: request_id,
		reach: reach === 'none' ? undefined : reach,
		problem: kind && storeProblems[kind],
	});
}

const storeProblems: Partial<Record<FailureKind, string>> = {
	noSpace: 'no space left',
	notStored: 'n8n could not store the file',
};

/** The text if it looks like a code. A service may put anything into these fields, even the prompt. */
const asCode = (text = '') => (/^[\w.:-]{1,60}$/.test(text) ? text : undefined);

/** The values that are known, in the order of the facts. */
function cleaned(values: Values, redaction: KeyRedaction): Values {
	const clean: Values = {};
	for (const name of factNames) {
		const value = values[name];
		if (typeof value === 'number') clean[name] = value;
		else if (value) clean[name] = cleanText(value, redaction);
	}
	return clean;
}

const factNames = Object.keys(facts) as FactName[];

/** Characters; IDs are shorter. */
const maxLength = 300;

/** Characters that are looked at, since a text may have megabytes. */
const maxRead = 1_000;

/** One line without the key, whoever chose the text. */
function cleanText(text: string, redaction: KeyRedaction): string {
	const isCut = text.length > maxRead;
	// Invisible characters could hide the key, or show a line in the other direction.
	const line = text
		.slice(0, maxRead)
		.replace(/\p{Cf}+/gu, '')
		.replace(/[\s\p{Cc}]+/gu, ' ');
	return excerpt(isCut ? redaction.truncated(line) : redaction.text(line), maxLength);
}

const lineOf = (event: EventName, values: Values) =>
	['Model Gateway:', event, ...Object.entries(values).map(pairOf)].join(' ');

/** A value that is no single word is a JSON text. In a message with "%d", n8n would drop the metadata. */
function pairOf([name, value]: [string, string | number]): string {
	const isWord = typeof value === 'number' || /^[\w.:@/+-]+$/.test(value);
	return `${name}=${isWord ? value : JSON.stringify(value).replaceAll('%', '\\u0025')}`;
}
