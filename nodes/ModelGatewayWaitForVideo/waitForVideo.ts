import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../shared/gateway/client/adaptiveLimit';
import { asGatewayError } from '../shared/gateway/errors/gatewayError';
import { jobName, describeProgress } from '../shared/gateway/errors/jobSummary';
import { JobWatch, type JobSource, type WaitedJob } from '../shared/gateway/jobs/poller';
import { jobStatus, videoContent } from '../shared/gateway/jobs/responses';
import { withoutUndefined } from '../shared/gateway/json';
import { endpoints } from '../shared/gateway/protocol/endpoints';
import { jobKinds, type JobKind } from '../shared/gateway/protocol/jobs';
import { limits } from '../shared/gateway/protocol/limits';
import { ProgressLines } from '../shared/n8n/agent/progress';
import type { N8nGateway } from '../shared/n8n/client/gateway';
import { clock } from '../shared/n8n/client/httpClient';
import { storeVideo, videoFileName } from '../shared/n8n/files/binary';
import { isFetched, type FileOutput } from '../shared/n8n/files/fileOutput';
import { runItems } from '../shared/n8n/items/run';
import type { ItemOutput, ItemRun, ItemWork } from '../shared/n8n/items/work';
import { jobKindOf } from '../shared/n8n/parameters/jobId';
import { parallelOf } from '../shared/n8n/parameters/options';
import * as fields from './fields';
import { outlastStart, park } from './parking';
import { stayOf } from './parkingPolicy';
import { WaitState } from './waitState';

interface Request {
	id: string;
	/** Undefined when the item does not tell: the service is asked. */
	kind?: JobKind;
	output: FileOutput;
	fileName: string;
	/** Milliseconds; undefined: as recommended for the kind of job. */
	pollInterval?: number;
	/** Milliseconds. */
	timeout: number;
}

/** At most this far apart, in milliseconds: soon enough that no job waits for its first poll. */
const maxSpread = 200;

/**
 * Waits for one job per item, side by side, and fetches the files. This is one pass of the wait: the only one,
 * unless the execution is parked until the next poll is due. All results leave together, with the last pass.
 */
export async function waitForVideos(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	await outlastStart(context);
	const { until, hints } = stayOf(context, clock.now());
	for (const message of hints) context.addExecutionHints({ message, location: 'outputPane' });
	const state = new WaitState(context);
	// All jobs run at the service anyway: none is to wait for another one here.
	const outputs = await runItems(context, videoWait(context, state, until), Infinity);
	if (state.isOver) return outputs;
	// Whoever stops the execution while it is parked finds the jobs in the log, too.
	if (state.isNew) context.logger.info(`Waiting for ${state.jobs.map(jobName).join(', ')}`);
	state.store();
	await park(context, state.nextPoll);
	return [state.overview];
}

/** @param until milliseconds since 1970; a job whose next poll is due later gives no output, and is left in `state` */
function videoWait(
	context: IExecuteFunctions,
	state: WaitState,
	until: number,
): ItemWork<Request, ItemOutput[] | undefined> {
	const downloads = new AdaptiveLimit(parallelOf(context, fields.maxParallelDownloads));
	// In a short pass they all follow one another closely, so that the next one finds them all due.
	const spread = until < Infinity ? limits.minPollSeconds : jobKinds.video.pollSeconds;
	/** Items with the same job share its polls. */
	const watches = new Map<WaitedJob, ReturnType<typeof watched>>();
	const watched = (job: WaitedJob, request: Request, { gateway, item, count }: ItemRun) => {
		const { pollInterval, timeout } = request;
		const lines = new ProgressLines(context, item);
		const watch = new JobWatch(jobsOf(gateway), job, {
			...gateway.runtime,
			...{ pollInterval, timeout },
			firstPollAfter: item * Math.min(maxSpread, (spread * 1000) / count),
			async onChange(note) {
				context.logger.debug(describeProgress(note));
				await lines.add(describeProgress(note));
			},
		});
		return { watch, finished: watch.wait(until).finally(async () => await lines.end()) };
	};
	const fetched = async (job: WaitedJob, request: Request, run: ItemRun) => {
		const shared = watches.get(job) ?? watched(job, request, run);
		watches.set(job, shared);
		const finished = await shared.finished;
		if (finished === undefined) return undefined;
		const { fields, source } = finished;
		const json = { ...fields } as IDataObject;
		const { id, output, fileName } = request;
		if (!isFetched(output, source, context)) return [{ json }];

		const refresh = async () => await shared.watch.freshSource();
		const purpose = `download the video of job ${id}`;
		return await downloads.run(async () => {
			const place = { ...output, fileName };
			const binary = await storeVideo(run, { source, refresh, purpose }, place);
			return [{ json, binary }];
		});
	};
	return {
		paid: false,

		prepare(parameters, { reportJob: note }) {
			const { options } = parameters;
			const id = fields.jobId.read(parameters);
			const kind = jobKindOf(parameters, id);
			// Also when another item makes the node fail before any job is asked for.
			if (id !== '') note({ kind, id });
			return {
				id,
				kind,
				output: fields.file.read(parameters),
				fileName: videoFileName(fields.fileName.read(options) ?? id),
				...withoutUndefined({ pollInterval: fields.pollInterval.read(options) }),
				timeout: fields.timeout.read(options) ?? limits.waitMinutes * 60_000,
			};
		},

		async perform(request, run) {
			const { item } = run;
			const { id, kind } = request;
			const now = run.gateway.runtime.clock.now();
			const note = { ...(kind && { kind }), id };
			const job = state.job(item, `${kind ?? 'job'} ${id}`, { note, since: now });
			run.reportJob(job.note);
			const earlier = state.earlier(item);
			if (earlier) return earlier;
			try {
				const outputs = await fetched(job, request, run);
				if (outputs) state.keep(item, outputs);
				else state.postpone(job);
				return outputs;
			} catch (error) {
				const failure = asGatewayError(error);
				state.keepFailure(item, failure);
				throw failure;
			}
		},
	};
}

/** "Endpoints" 2, 12 and 13, as a wait asks them. */
function jobsOf(gateway: N8nGateway): JobSource {
	return {
		poll: async (kind, id, timeout) =>
			await gateway.call({
				endpoint: jobKinds[kind].endpoint,
				purpose: `ask how far the job ${id} is`,
				...{ id, timeout, once: true },
				parse: jobStatus,
			}),
		content: async (id) =>
			await gateway.call({
				endpoint: endpoints.videoContent,
				purpose: `get the content of the video ${id}`,
				...{ id, once: true, mayLeadToFile: true },
				parse: videoContent,
			}),
	};
}
