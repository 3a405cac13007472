import { isFinal, jobKinds, type JobKind } from '../nodes/shared/service/protocol/jobs';
import { limits } from '../nodes/shared/service/protocol/limits';
import { picture, sampleVideo } from '../test/support/data/samples';
import {
	chain,
	createReferenceVideo,
	credentialFor,
	createVideo,
	waitForVideo,
} from '../test/support/workflows/workflows';
import { startGateway } from '../gateway';
import { runWorkflow } from '../test/harness';
import { atMost, type Figure } from './report';
import { sum } from './statistics';

const videos = 20;
const jobSeconds = 10;
/** Seconds that the wait may take beyond the end of the last video and one poll interval. */
const slack = 1;

/** A wait as the gateway saw it, in seconds after the wait node began. */
interface Wait {
	ended: number;
	jobs: Array<{ ended: number; polls: number[] }>;
}

/** Measures the wait for many videos at once: how long it takes, and how often it polls. */
export async function measureWaiting(): Promise<Figure[]> {
	return [...figures('task', await measure('task')), ...figures('video', await measure('video'))];
}

/** Creates the jobs and waits for them in one workflow, as a user would. */
async function measure(kind: JobKind): Promise<Wait> {
	const video = await sampleVideo();
	const gateway = await startGateway({ jobSeconds, render: async () => video });
	const ends = new Map<string, number>();
	gateway.on('job', ({ id, phase }) => void (isFinal(phase) && ends.set(id, Date.now())));
	try {
		const url = gateway.addMedia('portrait.png', picture('teal'), 'image/png');
		const run = await runWorkflow(chain(create[kind], waitForVideo()), {
			credentials: credentialFor(gateway),
			input: Array.from({ length: videos }, () => ({
				json: { media: [{ type: 'reference_image', url }] },
			})),
		});
		const stored = run
			.items('Wait for Video')
			.filter(({ binary }) => binary?.data.bytes === video.length);
		if (stored.length !== videos) throw new Error(`Only ${stored.length} videos were stored`);

		const { startTime, executionTime } = run.data.resultData.runData['Wait for Video'][0];
		const afterStart = (time: number) => (time - startTime) / 1000;
		return {
			ended: executionTime / 1000,
			jobs: [...ends].map(([id, end]) => ({
				ended: afterStart(end),
				polls: gateway.requests
					.filter(({ route, jobId }) => route === kind && jobId === id)
					.map(({ at }) => afterStart(at)),
			})),
		};
	} finally {
		await gateway.close();
	}
}

const create = {
	task: createReferenceVideo(),
	video: createVideo(),
};

function figures(kind: JobKind, { ended, jobs }: Wait): Figure[] {
	const interval = jobKinds[kind].pollSeconds;
	const name = `${videos} ${kind === 'task' ? 'tasks' : 'video jobs'}`;
	const lastEnd = Math.max(...jobs.map((job) => job.ended));
	const polls = sum(jobs.map((job) => job.polls.length));
	const fewest = sum(jobs.map((job) => 1 + Math.ceil((job.ended - job.polls[0]) / interval)));
	const gaps = jobs.flatMap((job) => job.polls.slice(1).map((at, index) => at - job.polls[index]));
	const [shortest, longest] = [Math.min(...gaps), Math.max(...gaps)];
	return [
		{
			figure: `${name}: time in the node`,
			value: `${ended.toFixed(1)} s (one by one: ${videos * jobSeconds} s)`,
			goal: `at most ${lastEnd.toFixed(1)} + ${interval} + ${slack} s`,
			met: ended <= lastEnd + interval + slack,
		},
		atMost(`${name}: polls / fewest possible`, polls / fewest, 1, {
			value: `${polls} / ${fewest} = ${(polls / fewest).toFixed(2)}`,
		}),
		{
			figure: `${name}: time between two polls of a job`,
			value: `${shortest.toFixed(2)} to ${longest.toFixed(2)} s`,
			goal: `${limits.minPollSeconds} to ${interval + slack} s`,
			met: shortest >= limits.minPollSeconds && longest <= interval + slack,
		},
	];
}
