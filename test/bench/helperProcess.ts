import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * Runs a script in a process of its own, and ends it when its report has been used.
 * Throws when the process ends without a report.
 */
export async function withProcess<Report, Result>(
	{ script, args = [] }: { script: string; args?: string[] },
	use: (report: Report) => Promise<Result>,
): Promise<Result> {
	const child = fork(script, args, {
		// Memory is compared with what is left after a collection.
		execArgv: [...process.execArgv, '--expose-gc'],
		// Ctrl-C is for this process; the other one notices its end, and cleans up.
		detached: true,
	});
	const ended = once(child, 'exit');
	const failed = ended.then(([code]) => {
		throw new Error(`${script} ended with code ${code} before it reported`);
	});
	try {
		const [report] = (await Promise.race([once(child, 'message'), failed])) as [Report];
		return await use(report);
	} finally {
		if (child.connected) child.disconnect();
		await ended;
	}
}

/** The other side of {@link withProcess}: hands over what the work gives, and ends with the parent. */
export function reportTo(work: () => Promise<object>): void {
	process.once('disconnect', () => process.exit());
	void work().then((report) => process.send?.(report));
}
