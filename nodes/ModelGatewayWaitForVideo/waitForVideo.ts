import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { jobSight, videoContent } from '../shared/gateway/answers';
import { progressOf } from '../shared/gateway/jobNote';
import { endpoints, jobKinds, limits, type JobKind } from '../shared/gateway/protocol';
import { Slots } from '../shared/gateway/slots';
import { JobWatch, type JobSource } from '../shared/gateway/waiting';
import { isFetched, readFileOutput, type FileOutput } from '../shared/n8n/fileOutput';
import { storeVideo, videoFileName } from '../shared/n8n/files';
import type { N8nGateway } from '../shared/n8n/gateway';
import { runItems } from '../shared/n8n/items';
import { jobIdOf, jobKindOf } from '../shared/n8n/jobs';
import type { ItemRun, ItemWork } from '../shared/n8n/operation';
import { parallelOf } from '../shared/n8n/options';
import { ProgressLines } from '../shared/n8n/progress';
import { defaultParallelDownloads } from './fields';
import type { ParkedPass } from './park';

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
const longestSpread = 200;

/** Waits in the open execution. All jobs run at the service anyway: none is to wait for another one here. */
export async function hold(context: IExecuteFunctions): Promise<INodeExecutionData[][]> {
	return await runItems(context, waitForVideo(context), Infinity);
}

/**
 * Waits for one job per item, side by side, and fetches its file.
 * @param pass asks each job once only, when it is due; a job that still runs gives no output
 */
export function waitForVideo(context: IExecuteFunctions, pass?: ParkedPass): ItemWork<Request> {
	const downloads = new Slots(
		parallelOf(context, 'maxParallelDownloads', defaultParallelDownloads),
	);
	// In a pass they all follow one another closely, so that the next one finds them all due.
	const spread = pass ? limits.minPollSeconds : jobKinds.video.pollSeconds;
	/** Items with the same job share its polls. */
	const waits = new Map<string, ReturnType<typeof begin>>();
	const begin = (request: Request, { gateway, item, count }: ItemRun) => {
		const { id, kind, pollInterval, timeout } = request;
		const key = keyOf(request);
		const lines = new ProgressLines(context, item);
		const known = pass?.recall(key, id, gateway.world.clock.now());
		const watch = new JobWatch(jobsOf(gateway), id, known?.kind ?? kind, {
			...gateway.world,
			...{ pollInterval, timeout },
			firstPollAfter: item * Math.min(longestSpread, (spread * 1000) / count),
			async onChange(note) {
				context.logger.debug(progressOf(note));
				await lines.add(progressOf(note));
			},
		});
		const wait = pass ? pass.poll(key, watch) : watch.finish();
		return { watch, wait: wait.finally(async () => await lines.end()) };
	};
	return {
		paid: false,

		prepare(parameters, { note }) {
			const id = jobIdOf(parameters, 'jobId', 'Job ID');
			const kind = jobKindOf(parameters, id);
			// Also when another item makes the node fail before any job is asked for.
			if (id !== '') note({ kind, id });
			const seconds = parameters.optionalNumber('pollIntervalSeconds');
			return {
				id,
				kind,
				output: readFileOutput(parameters),
				fileName: videoFileName(parameters.optionalText('fileName', 'File Name') ?? id),
				...(seconds !== undefined && {
					pollInterval: parameters.duration('pollIntervalSeconds', 'Poll Interval (Seconds)', {
						unit: 1000,
						min: 0,
						default: jobKinds.task.pollSeconds,
					}),
				}),
				timeout: parameters.duration('timeoutMinutes', 'Timeout (Minutes)', {
					unit: 60_000,
					min: 0,
					default: limits.waitMinutes,
				}),
			};
		},

		async perform(request, run) {
			const { id, output, fileName } = request;
			const key = keyOf(request);
			const shared = waits.get(key) ?? begin(request, run);
			waits.set(key, shared);
			const { watch, wait } = shared;
			run.note(watch.note);
			const finished = await wait;
			if (finished === undefined) {
				pass?.keep(run.item, key);
				return [];
			}
			const { fields, source } = finished;
			const json = { ...fields } as IDataObject;
			if (!isFetched(output, source, context)) return [{ json }];

			const refresh = async () => await watch.freshSource();
			const purpose = `download the video of job ${id}`;
			return await downloads.run(async () => {
				const place = { ...output, fileName };
				const binary = await storeVideo(run, { source, refresh, purpose }, place);
				return [{ json, binary }];
			});
		},
	};
}

const keyOf = ({ id, kind }: Request): string => `${kind ?? 'job'} ${id}`;

/** "Endpoints" 2, 12 and 13, as a wait asks them. */
function jobsOf(gateway: N8nGateway): JobSource {
	return {
		poll: async (kind, id, timeout) =>
			await gateway.call({
				endpoint: jobKinds[kind].endpoint,
				purpose: `ask how far the job ${id} is`,
				...{ id, timeout, once: true },
				parse: jobSight,
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
