import type { Gateway, Job } from '../../gateway';

export const jobsOf = ({ jobs }: Gateway, prompt: string): Job[] =>
	jobs.list().filter(({ order }) => order.prompt === prompt);

export function chargesOf(gateway: Gateway, prompt: string): number {
	const ids = new Set(jobsOf(gateway, prompt).map(({ id }) => id));
	return gateway.ledger.filter(({ job = '' }) => ids.has(job)).length;
}
