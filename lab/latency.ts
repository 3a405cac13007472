import { setTimeout } from 'node:timers/promises';
import { isFinal } from '../nodes/shared/service/protocol/jobs';
import type { Gateway } from '../gateway';
import { Instance } from './n8n/instance';
import { callWebhook } from '../test/n8n/owner';
import {
	byId,
	core,
	modelGateway,
	startedByWebhook,
	withCredential,
	waitForVideo,
} from '../test/support/workflows/workflows';
import { sampleVideo } from '../test/support/data/samples';
import type { Figure } from './report';
import { lateness } from './statistics';

/** How long the videos take, in seconds. */
const lengths = [30, 120, 300];
const ways = { hold: 'kept running', auto: 'parked' } as const;
type Way = keyof typeof ways;
/** Executions of each way and length. Their starts are spread over the minute between two checks of n8n. */
const runs = 12;

/** Measures the time from the end of a video to the next node, in a complete n8n with its real clock. */
export async function measureLatency(): Promise<Figure[]> {
	const video = await sampleVideo();
	return await Instance.withGateway(
		{ jobSeconds: ({ order }) => Number(order.prompt), render: async () => video },
		figures,
	);
}

async function figures({ owner, url }: Instance, gateway: Gateway): Promise<Figure[]> {
	const ends = new Map<string, number>();
	gateway.on('job', ({ id, phase }) => void (isFinal(phase) && ends.set(id, Date.now())));
	const credential = await owner.createCredential(gateway);
	const order = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
	const prompt = '={{ $json.query.seconds }}';
	/** Seconds from the end of each video to the next node, by the length of the video. */
	const measure = async (whileWaiting: Way) => {
		const workflow = await owner.createPublished(
			withCredential(
				startedByWebhook(
					{ path: whileWaiting },
					modelGateway({ ...order, prompt }, { name: 'Create' }),
					waitForVideo({ whileWaiting }),
					core('After', 'noOp'),
				),
				credential,
			),
		);
		for (let run = 0; run < runs; run++) {
			for (const seconds of lengths) {
				await callWebhook(url, whileWaiting, { seconds: String(seconds) });
			}
			await setTimeout(60_000 / runs);
		}
		const delays = new Map(lengths.map((length) => [length, [] as number[]]));
		for (const { id } of await owner.executionsOf(workflow, runs * lengths.length)) {
			const { data } = await owner.ended(id, Math.max(...lengths) + 180);
			const { After, Create } = data.resultData.runData;
			const job = String(Create[0].data?.main[0]?.[0].json.id);
			const length = Number(gateway.jobs.get(job)?.order.prompt);
			delays.get(length)?.push((After[0].startTime - (ends.get(job) ?? NaN)) / 1000);
		}
		return delays;
	};
	const [hold, auto] = await Promise.all([measure('hold'), measure('auto')]);
	return lengths.flatMap((length) =>
		Object.entries({ hold, auto }).map(([way, delays]) => ({
			figure: `video of ${length} s, ${ways[way as Way]}: from its end to the next node`,
			value: `${lateness(delays.get(length) ?? [])} (${runs} runs)`,
		})),
	);
}
