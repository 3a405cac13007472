import { setTimeout } from 'node:timers/promises';
import { print } from '../report';
import type { Deployment } from './deployment';

const workers = 2;

/** Restarts processes that ended by themselves, as a supervisor does: n8n exits after 10 s without Redis. */
export async function supervise(
	deployment: Deployment,
	report: (line: string) => void = print,
): Promise<void> {
	// By then, the processes that exit without Redis or PostgreSQL have exited.
	await setTimeout(5_000);
	const ended = {
		'the main process': !deployment.queue.main.process.isRunning,
		'the webhook process': !deployment.webhook.process.isRunning,
		workers: workers - deployment.running.length,
	};
	const named = Object.entries(ended).filter(([, is]) => Boolean(is));
	report(
		`ended by themselves: ${named.map(([name, is]) => (is === true ? name : `${is} ${name}`)).join(', ') || 'none'}`,
	);
	if (ended['the main process']) await deployment.startMain();
	if (ended['the webhook process']) await deployment.startWebhook();
	while (deployment.running.length < workers) await deployment.startWorker();
}
