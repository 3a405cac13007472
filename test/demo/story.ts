import type { Phase } from '../../nodes/shared/service/protocol/jobs';
import type { Gateway, Job, RecordedRequest, Route } from '../../gateway';
import { megabytes, report } from './terminal';

const phaseNames: Record<Phase, string> = {
	queued: 'in the queue',
	running: 'being generated',
	succeeded: 'ready',
	failed: 'failed',
};

/** Prints what n8n requests and how far the gateway is, as it happens. */
export function reportEvents(gateway: Gateway, nameOf: (job: Job) => string): void {
	const reportJob = (job: Job, event: string) => report(`${nameOf(job).padEnd(20)}${event}`);
	const chargesOf = (id: string) => gateway.ledger.filter(({ job }) => job === id).length;

	gateway.on('job', (job) => {
		// Reported when n8n has the response to the create.
		if (job.phase === 'queued') return;
		reportJob(job, `gateway: ${phaseNames[job.phase]}, ${job.progress} %`);
	});

	const sentences: Partial<Record<Route, (job: Job, request: RecordedRequest) => string>> = {
		referenceVideoCreate: ({ id }) => `n8n places the order: ${id}, ${chargesOf(id)} charge`,
		task: ({ phase, progress }) => `n8n polls: ${phaseNames[phase]}, ${progress} %`,
		download: ({ video }, { at }) =>
			`n8n downloads ${megabytes(video?.bytes.length ?? 0)} in ${(Date.now() - at) / 1000} s`,
	};
	gateway.on('request', (request) => {
		const job = gateway.jobs.get(request.jobId ?? '');
		const sentence = request.route && sentences[request.route];
		if (job && sentence) reportJob(job, sentence(job, request));
	});
}
