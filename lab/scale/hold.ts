import { print, type Figure } from '../report';
import { titledVideos } from '../../test/support/data/samples';
import { memory } from '../n8n/processUsage';
import { until } from '../../test/support/time/until';
import { deliveriesOf } from '../../test/n8n/sink';
import { Deployment } from './deployment';
import { callAll } from './load';
import { videoWorkflow } from '../../test/n8n/videoWorkflows';
import { storedAfterEachNode } from './workflows';

interface HoldOptions {
	executions: number;
	videoSeconds: number;
}

/** Slots of the worker: n8n's default. */
const slots = 10;
const ways = { hold: 'kept running', auto: 'parked' } as const;
type Way = keyof typeof ways;

/** More executions of one video each than the worker has slots: kept running and parked, in two deployments at once. */
export async function measureHold(options: HoldOptions): Promise<Figure[]> {
	const [hold, park] = await Promise.all(
		(['hold', 'auto'] as const).map(async (way) => await wait(way, options)),
	);
	const { executions, videoSeconds } = options;
	const title = `${executions} waits for a video of ${videoSeconds} s, ${slots} slots`;
	const of = (way: Way, { seconds, waves, megabytes }: Wait): Figure[] => [
		{
			figure: `${title}: ${ways[way]}`,
			value: `${seconds.toFixed(0)} s, ${waves === 1 ? '1 wave' : `${waves} waves`}`,
		},
		{
			figure: '  memory of the worker before the first delivery',
			value: `${megabytes.toFixed(0)} MB`,
		},
	];
	return [
		...of('hold', hold),
		...of('auto', park),
		{ figure: 'parked: waves', value: String(park.waves), goal: '1', met: park.waves === 1 },
	];
}

interface Wait {
	/** From the first call to the last video in the next node. */
	seconds: number;
	/** The number of groups in which the videos were finished. */
	waves: number;
	/** Memory of the worker while the first wave was waiting. */
	megabytes: number;
}

async function wait(way: Way, { executions, videoSeconds }: HoldOptions): Promise<Wait> {
	const gateway = titledVideos(videoSeconds);
	return await Deployment.with({ gateway, workers: 1, concurrency: slots }, async (deployment) => {
		const settings = way === 'hold' ? storedAfterEachNode : {};
		await deployment.publish(
			videoWorkflow(way, deployment.environment, { whileWaiting: way, settings }),
		);
		const names = Array.from({ length: executions }, (_, index) => `${way} ${index}`);
		const begun = performance.now();
		let megabytes = 0;
		await callAll(deployment, way, names);
		const delivered = () =>
			names.filter((name) => deliveriesOf(deployment.gateway, deployment.sink.deliveries, name) > 0)
				.length;
		await until(
			() => {
				if (delivered() === 0) megabytes = memory(deployment.running[0].pid).now / 1024 ** 2;
				return delivered() === executions;
			},
			videoSeconds * 6 + 600,
		);
		const seconds = (performance.now() - begun) / 1000;
		const waves = wavesOf(deployment, videoSeconds);
		print(`  ${ways[way]}: ${seconds.toFixed(0)} s`);
		return { seconds, waves, megabytes };
	});
}

/** The number of groups of deliveries, each more than half a video's time after the one before. */
function wavesOf({ sink }: Deployment, videoSeconds: number): number {
	const times = sink.deliveries.map(({ at }) => at).sort((a, b) => a - b);
	const isNext = (at: number, index: number) =>
		index === 0 || at - times[index - 1] > (videoSeconds / 2) * 1000;
	return times.filter(isNext).length;
}
