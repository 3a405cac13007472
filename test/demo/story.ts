import type { Phase } from '../../nodes/shared/gateway/protocol/jobs';
import type { Gateway, Job, RecordedRequest, Route } from '../gateway';
import { megabytes, report } from './terminal';

const standing: Record<Phase, string> = {
	queued: 'waiting in line',
	running: 'being made',
	succeeded: 'ready',
	failed: 'failed',
};

/** Tells, as it happens, what n8n asks of the gateway and how far the gateway is. */
export function tellStory(gateway: Gateway, nameOf: (job: Job) => string): void {
	const tell = (job: Job, event: string) => report(`${nameOf(job).padEnd(20)}${event}`);
	const chargesOf = (id: string) => gateway.ledger.filter(({ job }) => job === id).length;

	gateway.on('job', (job) => {
		// Its creation is told when n8n has the answer.
		if (job.phase === 'queued') return;
		tell(job, `gateway: ${standing[job.phase]}, ${job.progress} %`);
	});

	const sentences: Partial<Record<Route, (job: Job, request: RecordedRequest) => string>> = {
		referenceVideoCreate: ({ id }) => `n8n orders it: ${id}, ${chargesOf(id)} charge`,
		task: ({ phase, progress }) => `n8n asks: ${standing[phase]}, ${progress} %`,
		download: ({ video }, { at }) =>
			`n8n downloads ${megabytes(video?.bytes.length ?? 0)} in ${(Date.now() - at) / 1000} s`,
	};
	gateway.on('request', (request) => {
		const job = gateway.jobs.get(request.jobId ?? '');
		const sentence = request.route && sentences[request.route];
		if (job && sentence) tell(job, sentence(job, request));
	});
}
