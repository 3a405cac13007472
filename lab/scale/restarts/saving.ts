import type { Figure } from '../../report';
import { isOpen } from '../../../test/n8n/owner';
import { until } from '../../../test/support/time/until';
import { fromNowOn } from '../aftermath';
import { Deployment, type StoredExecution } from '../deployment';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { collectWorkflow } from '../workflows';
import { timed, timeoutTitle } from './timeout';
import { figureOfTrial, reporter, summaryOf, timedVideos } from './trial';

const each = 4;
const ways = { auto: 'parked', hold: 'kept running' };
const saving = { none: 'successes not saved', all: 'successes saved' };
export const settingsTitle = 'Workflow settings';

/** Workflows of other settings: whether n8n saves successful executions, and when it stops them. */
export async function measureWorkflowSettings(): Promise<Figure[]> {
	return await Deployment.with({ gateway: timedVideos() }, async (deployment) => {
		await deployment.publish(collectWorkflow('collect', deployment.environment));
		const groups = [];
		for (const [whileWaiting, way] of Object.entries(ways)) {
			for (const [saveDataSuccessExecution, saved] of Object.entries(saving)) {
				const settings = { saveDataSuccessExecution: saveDataSuccessExecution as 'all' | 'none' };
				groups.push(await order(deployment, `${saved}, ${way}`, { settings, whileWaiting }));
			}
		}
		const settings = { executionTimeout: timed.timeout };
		const inTime = await order(deployment, timeoutTitle('Queue mode'), { settings }, timed.video);
		const figures: Figure[] = [];
		for (const group of groups) {
			const report = reporter(group.title);
			figures.push(await figureOfTrial(deployment, { ...group, isByItself: true, report }));
		}
		return [...figures, await timeoutFigure(inTime)];
	});
}

interface Group {
	title: string;
	names: string[];
	executions: () => Promise<StoredExecution[]>;
}

type Options = NonNullable<Parameters<typeof videoWorkflow>[2]>;

async function order(
	deployment: Deployment,
	title: string,
	options: Options,
	seconds = 20,
): Promise<Group> {
	const path = title.replace(/\W+/g, '-');
	const workflow = await deployment.publish(videoWorkflow(path, deployment.environment, options));
	const executions = await fromNowOn(deployment, [workflow]);
	const names = Array.from({ length: each }, (_, index) => `${title} ${seconds} s ${index}`);
	for (const name of names) await deployment.call(path, { name });
	return { title, names, executions };
}

async function timeoutFigure({ title, executions }: Group): Promise<Figure> {
	await until(async () => !(await executions()).some(isOpen), 400);
	return { figure: title, value: summaryOf(await executions()) };
}
