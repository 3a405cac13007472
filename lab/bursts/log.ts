import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Deployment, StoredExecution } from '../scale/deployment';

/** All lines that the workers have logged. */
function logLines({ folder }: Deployment): string[] {
	const logs = readdirSync(folder).filter((name) => /^worker-.*\.log$/.test(name));
	return logs.flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'));
}

const events = {
	/** n8n, of an execution that it no longer runs, even if it could not store how it ended. */
	finished: /^Worker finished execution (\d+)/,
	/** Our node, of an order that is about to be sent. */
	sent: /order sent executionId=(\d+)/,
	/** Our node, of n8n's store. */
	storeFailed: /store failed executionId=(\d+)/,
};

/** Those of the executions of which the workers have logged an event. */
export function executionsWith(
	event: keyof typeof events,
	deployment: Deployment,
	executions: StoredExecution[],
): string[] {
	const logged = new Set(logLines(deployment).map((line) => events[event].exec(line)?.[1]));
	return executions.map(({ id }) => id).filter((id) => logged.has(id));
}

/** The lines of our nodes about these executions. */
export function linesAbout(deployment: Deployment, executions: StoredExecution[]): string[] {
	const ids = new Set(executions.map(({ id }) => id));
	return logLines(deployment).filter((line) => ids.has(/executionId=(\d+)/.exec(line)?.[1] ?? ''));
}
