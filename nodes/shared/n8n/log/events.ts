// docs/monitoring.md says what these names mean, and operators build alerts on them: never rename one.

/** All events that the nodes log, of orders and of waits, and n8n's log level of each. */
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

/** The facts of an event, in the order in which a line has them. */
export const facts = [
	...(['executionId', 'workflowId', 'workflowName', 'node', 'item', 'items', 'model'] as const),
	...(['jobId', 'jobStatus', 'progress', 'estimatedCost'] as const),
	...(['httpStatus', 'code', 'requestId', 'reach', 'reason', 'bytes', 'problem'] as const),
	...(['waitedSeconds', 'expectedSeconds'] as const),
];

export type FactName = (typeof facts)[number];
