import { sumOf } from '../../service/prices';
import type { Item } from './item';
import type { RunState } from './runState';

const maxJobs = 20;

/**
 * Gives n8n's OpenTelemetry the facts about a run, which it adds to the node's span as `n8n.node.custom.…`. n8n below 2.22
 * has no spans, and n8n without a licence for attributes leaves them out.
 */
export function describeSpan(run: RunState): void {
	const { context, items, log } = run;
	if (typeof context.setMetadata !== 'function') return;
	const listOf = (fact: (item: Item) => string | undefined) =>
		[...new Set(items.flatMap((item) => fact(item) ?? []))]
			.slice(0, maxJobs)
			.map((text) => log.clean(text));
	const jobs = listOf(({ job }) => job?.id);
	const models = listOf(({ model }) => model);
	if (jobs.length === 0 && models.length === 0) return;
	const costs = items.flatMap(({ sends, cost }) => (sends > 0 && cost !== undefined ? cost : []));
	const waited = items.flatMap(({ waitedSeconds }) => waitedSeconds ?? []);
	context.setMetadata({
		tracing: {
			...(jobs.length > 0 && { job_id: jobs.join(' ') }),
			...(models.length > 0 && { model: models.join(' ') }),
			...(costs.length > 0 && { estimated_cost: sumOf(costs) }),
			...(waited.length > 0 && {
				waited_seconds: waited.reduce((longest, seconds) => Math.max(longest, seconds)),
			}),
			outcome: outcomeOf(run),
		},
	});
}

function outcomeOf({ isStopped, isFailing, failures, items }: RunState): string {
	if (isStopped) return 'stopped';
	if (isFailing) return 'failed';
	if (items.some(({ outcome }) => outcome === undefined)) return 'waiting';
	return failures.length > 0 ? 'partly failed' : 'succeeded';
}
