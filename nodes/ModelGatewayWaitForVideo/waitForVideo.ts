import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { AdaptiveLimit } from '../shared/gateway/client/adaptiveLimit';
import { asGatewayError } from '../shared/gateway/errors/gatewayError';
import { describeProgress, jobName } from '../shared/gateway/errors/jobSummary';
import { startWait, type FinishedJob } from '../shared/gateway/jobs/poller';
import { getJobStatus, getVideoContent } from '../shared/gateway/jobs/requests';
import { JobWait, type JobSource } from '../shared/gateway/jobs/wait';
import { withoutUndefined } from '../shared/gateway/json';
import { jobKinds, type JobKind } from '../shared/gateway/protocol/jobs';
import { limits } from '../shared/gateway/protocol/limits';
import { ProgressLines } from '../shared/n8n/agent/progress';
import type { N8nGateway } from '../shared/n8n/client/gateway';
import { clock } from '../shared/n8n/client/httpClient';
import { isFetched, type FileOutput } from '../shared/n8n/files/fileOutput';
import { hintAtKind, storeVideo } from '../shared/n8n/files/video';
import { runItems } from '../shared/n8n/items/run';
import type { ItemOutput, ItemRun, ItemWork } from '../shared/n8n/items/work';
import { jobKindOf } from '../shared/n8n/parameters/jobId';
import { parallelOf } from '../shared/n8n/parameters/options';
import * as fields from './fields';
import { progressHint } from './hints';
import { park, waitOutStartupRecovery } from './parking';
import { parkingPolicy } from './parkingPolicy';
import { WaitState } from './waitState';

interface Request {
	id: string;
	/** Undefined when the item does not tell: the service is asked. */
	kind?: JobKind;
	output: FileOutput;
	/** Of the file. */
	name: string;
	/** Milliseconds; undefined: as recommended for the kind of job. */
	pollInterval?: number;
	/** Milliseconds. */
	timeout: number;
}

interface SharedWait {
	wait: JobWait;
	/** Undefined when the job is left to the next pass. */
	outcome: Promise<FinishedJob | undefined>;
}

/** At most this far apart, in milliseconds: soon enough that no job waits for its first poll. */
const maxSpread = 50;

/**
 * Waits for one job per item, side by side, and fetches the files. This is one pass of the wait: the only one,
 * unless the execution is parked until the next poll is due. All results leave together, with the last pass.
 */
export async function waitForVideos(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	await waitOutStartupRecovery(context);
	const { passEndsAt, hints } = parkingPolicy(context, clock.now());
	for (const message of hints) context.addExecutionHints({ message, location: 'outputPane' });
	const state = new WaitState(context);
	// All jobs run at the service anyway: none is to wait for another one here.
	const outputs = await runItems(context, videoWait(context, state, passEndsAt), Infinity);
	if (state.isOver) return outputs;
	// Whoever stops the execution while it is parked finds the jobs in the log, too.
	if (state.isNew) context.logger.info(`Waiting for ${state.jobs.map(jobName).join(', ')}`);
	context.addExecutionHints(progressHint(state.jobs));
	state.store();
	await park(context, state.nextPoll);
	return [state.overview];
}

/**
 * One pass over all items.
 * @param passEndsAt milliseconds since 1970; a job whose next poll is due later gives no output, and is left in
 * `state`
 */
function videoWait(
	context: IExecuteFunctions,
	state: WaitState,
	passEndsAt?: number,
): ItemWork<Request> {
	const downloads = new AdaptiveLimit(parallelOf(context, fields.maxParallelDownloads));
	// In a short pass they all follow one another closely, so that the next one finds them all due.
	const spread = passEndsAt === undefined ? jobKinds.video.pollSeconds : limits.minPollSeconds;
	/** By job: items with the same job share its polls. */
	const waits = new Map<string, SharedWait>();
	const begin = (request: Request, jobKey: string, { gateway, item, count }: ItemRun) => {
		const { id, kind, pollInterval, timeout } = request;
		const { runtime } = gateway;
		const lines = new ProgressLines(context, item);
		const poller =
			state.poller(jobKey) ??
			startWait({ id, ...(kind && { kind }) }, { now: runtime.clock.now(), pollInterval, timeout });
		// The limits of the credential may hold some of them back, which go first in the next pass.
		const place = (runtime.queue && state.placeOf(jobKey)) ?? item;
		const wait = new JobWait(jobSource(gateway), poller, {
			...runtime,
			firstPollAfter: place * Math.min(maxSpread, (spread * 1000) / count),
			async onChange(job) {
				context.logger.debug(describeProgress(job));
				await lines.add(describeProgress(job));
			},
		});
		const outcome = passEndsAt === undefined ? wait.hold() : wait.pollUntil(passEndsAt);
		return { wait, outcome: outcome.finally(async () => await lines.end()) };
	};
	const deliver = async (
		{ source, fields }: FinishedJob,
		{ id, output, name }: Request,
		{ wait, run }: { wait: JobWait; run: ItemRun },
	): Promise<ItemOutput[]> => {
		// The same for both kinds of job, whatever the service may mean by these names.
		const json = { ...fields, job_id: id, video_url: source.url } as IDataObject;
		if (!isFetched(output, source, context)) return [{ json }];
		const refresh = async () => await wait.freshSource();
		const purpose = `download the video of job ${id}`;
		return await downloads.run(async () => {
			const target = { ...output, name };
			const binary = await storeVideo(run, { source, refresh, purpose }, target);
			return [{ json, binary }];
		});
	};
	return {
		endpoint: jobKinds.task.endpoint,

		prepare(parameters, { reportJob }) {
			const { options } = parameters;
			const id = fields.jobId.read(parameters);
			const kind = jobKindOf(parameters, id);
			// Also when another item makes the node fail before any job is polled.
			if (id !== '') reportJob({ kind, id });
			return {
				id,
				kind,
				output: fields.file.read(parameters),
				name: fields.fileName.read(options) ?? id,
				...withoutUndefined({ pollInterval: fields.pollInterval.read(options) }),
				timeout: fields.timeout.read(options) ?? limits.waitMinutes * 60_000,
			};
		},

		async perform(request, run) {
			const { item } = run;
			const { id, kind } = request;
			const jobKey = `${kind ?? 'job'} ${id}`;
			state.assign(item, jobKey);
			const known = state.poller(jobKey);
			if (known) run.reportJob(known.job);
			const earlier = state.outputsOf(item);
			if (earlier) return withHints(earlier, run);

			const shared = waits.get(jobKey) ?? begin(request, jobKey, run);
			waits.set(jobKey, shared);
			const { wait } = shared;
			try {
				const finished = await shared.outcome;
				if (finished === undefined) {
					state.park(jobKey);
					// The item has no outputs in this pass.
					return [];
				}
				const outputs = await deliver(finished, request, { wait, run });
				state.keepOutputs(item, outputs);
				return withHints(outputs, run);
			} catch (error) {
				const failure = asGatewayError(error);
				state.keepFailure(item, failure);
				throw failure;
			} finally {
				state.keepPoller(jobKey, wait.state);
				run.reportJob(wait.state.job);
			}
		},
	};
}

/** n8n shows the hints of the last pass only, so they are told again. */
function withHints(outputs: ItemOutput[], run: ItemRun): ItemOutput[] {
	for (const { binary = {} } of outputs) hintAtKind(binary, run);
	return outputs;
}

/** "Endpoints" 2, 12 and 13, as a wait requests them. */
function jobSource(gateway: N8nGateway): JobSource {
	return {
		poll: async (kind, id, timeout, patience) =>
			await getJobStatus(gateway, { kind, id, timeout, patience, once: true }),
		content: async (id) => await getVideoContent(gateway, { id, once: true }),
	};
}
