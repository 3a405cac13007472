import type { Deployment } from '../scale/deployment';
import { logLines } from './log';
import type { FreshNode } from './nodes';
import type { Outcome } from './outcomes';

/** What the workers have logged of the nodes whose videos were charged twice or are stuck. */
export async function evidenceOf(
	deployment: Deployment,
	nodes: FreshNode[],
	{ twice, stuck }: Outcome,
): Promise<string[]> {
	const problems = [...twice.map((name) => `${name} was charged twice`), ...stuck];
	const lines = [...problems];
	const all = logLines(deployment);
	for (const { hook, workflow } of nodes) {
		const executions = await deployment.executions(workflow);
		const ids = new Set(executions.map(({ id }) => id));
		const isMeant = problems.some(
			(problem) =>
				problem.startsWith(`${hook} `) || ids.has(/^execution (\d+):/.exec(problem)?.[1] ?? ''),
		);
		if (!isMeant) continue;
		lines.push(
			`${hook}: ${executions.map(({ id, status, retryOf }) => `${id} ${status}${retryOf && `, Retry of ${retryOf}`}`).join('; ')}`,
			...all.filter((line) => ids.has(/executionId=(\d+)/.exec(line)?.[1] ?? '')),
		);
	}
	return lines.map((line) => `    ${line}`);
}
