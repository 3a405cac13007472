import { callWebhook, isOpen } from '../../../test/n8n/owner';
import { until } from '../../../test/support/time/until';
import type { Figure } from '../../report';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { withSingle } from './single';
import { reporter, summaryOf } from './trial';

/** Seconds of _Timeout Workflow_, and of the videos. */
export const timed = { timeout: 30, video: 150, executions: 4 };
export const timeoutTitle = (mode: string) =>
	`${mode}: Timeout Workflow of ${timed.timeout} s, videos of ${timed.video} s`;

/** Whether n8n counts parked time in a workflow's timeout, in one process. */
export async function measureTimeout(): Promise<Figure[]> {
	const title = timeoutTitle('One process');
	const report = reporter(title);
	return await withSingle(async ({ instance, environment }) => {
		const settings = { executionTimeout: timed.timeout };
		const workflow = await instance.owner.createPublished(
			videoWorkflow('timed', environment, { settings }),
		);
		for (let index = 0; index < timed.executions; index++) {
			await callWebhook(instance.url, 'timed', { name: `timed ${timed.video} s ${index}` });
		}
		const list = async () => await instance.owner.executionsOf(workflow);
		await until(async () => !(await list()).some(isOpen), 400);
		const value = summaryOf(await list());
		report(value);
		return [{ figure: title, value }];
	});
}
