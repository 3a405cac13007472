/** What the log says. docs/monitoring.md shows both tables, and operators build alerts on them: never rename a name. */

interface LogEvent {
	/** n8n's log level. */
	level: 'debug' | 'info' | 'warn';
	/** For an operator. */
	meaning: string;
}

/** All events that the nodes log: of orders, of waits, and of both. */
export const events = {
	'order sent': {
		level: 'info',
		meaning:
			'The node sends an order. One of the next five events follows for the same item. If none does, n8n was killed: the outcome is unknown.',
	},
	'order created': { level: 'info', meaning: 'The job of a video was created.' },
	'order completed': { level: 'info', meaning: 'The images of an order arrived.' },
	'order withdrawn': {
		level: 'info',
		meaning: 'Stop, or another item that failed, came before the order left. Nothing was ordered.',
	},
	'order failed': {
		level: 'warn',
		meaning: 'The order was refused or did not arrive, or an order of images got no response.',
	},
	'order outcome unknown': {
		level: 'warn',
		meaning: 'No usable response arrived. A video or image may have been made and charged.',
	},
	'order refused': {
		level: 'warn',
		meaning:
			'The node sent nothing, because of a limit, an Order Key or an earlier order: see `reason`. One line for all `items` with this reason, and none for skipped items; `item` is the first of them.',
	},
	'store failed': {
		level: 'warn',
		meaning: "n8n's database failed for some seconds. What it could not record was not ordered.",
	},
	'wait parked': {
		level: 'info',
		meaning: 'The execution is parked for the first time, while this job is running.',
	},
	'wait resumed': {
		level: 'info',
		meaning:
			'n8n has restarted, and the execution resumes. It may show as crashed until this pass ends, usually for seconds.',
	},
	'job progress': { level: 'debug', meaning: 'The status or the progress of a job has changed.' },
	'video delivered': {
		level: 'info',
		meaning:
			'A video is finished, and its file stored in n8n. Without Download, there are no `bytes`. All items leave the node together.',
	},
	'job failed': { level: 'warn', meaning: 'A job has failed. Its video will not come.' },
	'wait timed out': {
		level: 'warn',
		meaning: 'A job did not finish within Timeout (Minutes). It may still be running.',
	},
	'wait failed': {
		level: 'warn',
		meaning: 'The status of a job could not be read. The job may still be running.',
	},
	'download failed': {
		level: 'warn',
		meaning: 'A video or image is finished, but its file could not be fetched or stored.',
	},
	'node stopped': {
		level: 'info',
		meaning: 'Stop or a timeout of the workflow ended the node. One line for each of its jobs.',
	},
} as const satisfies Record<string, LogEvent>;

export type EventName = keyof typeof events;

/** The facts of an event, in the order in which a line has them. A fact that is not known is left out. */
export const facts = {
	executionId: 'The execution',
	workflowId: 'The workflow',
	workflowName: 'Its name',
	node: 'The name of the node',
	item: 'Index of the item; the first is 0',
	items: 'Number of items that were refused',
	model: 'The model of the order',
	jobId: 'The job: [collect its video](collect-by-id.md) with it',
	jobStatus: 'The last known status of the job',
	progress: 'Of the job, in percent',
	estimatedCost:
		'Of the order, by the [prices](limits-and-quotas.md#prices-and-maximum-cost) of the credential',
	httpStatus: 'Of the response that reports the failure',
	code: 'The error code in that response',
	requestId: 'The request ID, for the support of your service',
	reach:
		'How far the failed request came: `unsent` (no connection), `lost` (no response), `proxied` (a proxy responded), `answered`, or `unreadable`',
	reason:
		'Why nothing was sent. A [maximum](limits-and-quotas.md) is reached: `limit`, `costLimit`, `limitOfDay`, `costLimitOfDay`. The [Order Key](never-pay-twice.md#order-key) was used: `keyUsed`, `keyOfOther`. An earlier try sent this order, or one that may be the same, and its [outcome is unknown](never-pay-twice.md#orders-whose-outcome-is-unknown): `sent`, `lost`, `reworded`. The records of earlier orders could not be read: `dayUnknown`, `keyUnknown`, `triesUnknown`, `unreadable`; or not written: `notRecorded`. The list is too long to be recorded: `tooMany`',
	bytes: 'Size of the file',
	problem:
		"The error of n8n's database. For a file only one of two texts: `no space left`, or `n8n could not store the file`",
} as const;

export type FactName = keyof typeof facts;
