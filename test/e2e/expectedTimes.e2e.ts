import type { IWorkflowBase } from 'n8n-workflow';
import type { Job } from '../../gateway';
import { picture, sampleVideo } from '../support/data/samples';
import { until } from '../support/time/until';
import { chain, core, createReferenceVideo, waitForVideo } from '../support/workflows/workflows';
import { withStage } from './support/stage';

describe('the panel of a parked wait', () => {
	const stage = withStage({ jobSeconds: Infinity });
	const becomes = async (workflow: IWorkflowBase, status: string) =>
		await until(async () => (await stage.owner.executionsOf(workflow))[0]?.status === status);
	const each = core('Each', 'splitOut', { fieldToSplitOut: 'jobs' });
	const wait = waitForVideo({ whileWaiting: 'park' });

	it('says how long the wait has taken, and when its videos are expected', async () => {
		const editor = await stage.editor();
		const url = stage.gateway.addMedia('a.png', picture('green'), 'image/png');
		const products = (count: number) => {
			const media = [{ type: 'reference_image', url }];
			const jobs = Array.from({ length: count }, () => ({ media }));
			return core('Products', 'set', { mode: 'raw', jsonOutput: JSON.stringify({ jobs }) }, 3.4);
		};
		const start = async (count: number) => {
			const workflow = await stage.create(
				chain(products(count), each, createReferenceVideo(), wait),
			);
			await editor.openWorkflow(workflow);
			await editor.page.getByTestId('execute-workflow-button').click();
			await becomes(workflow, 'waiting');
			return { workflow, panel: await editor.openNode('Wait for Video') };
		};
		const ends: string[] = [];
		const learn = ({ id, phase }: Job) => void (phase === 'queued' && ends.push(id));
		stage.gateway.on('job', learn);
		const first = await start(5);
		await first.panel.getByText(/^0 of 5 ready\. A reference video usually takes/).waitFor();
		await editor.takePicture('expected-usually');
		// The first poll finds the jobs running, so that their length is learned.
		const later = first.panel.getByText(/^0 of 5 ready after .*\. A reference video usually takes/);
		await later.waitFor({ timeout: 100_000 });
		await editor.takePicture('expected-later');
		for (const id of ends) stage.gateway.jobs.complete(id, await sampleVideo(id));
		await becomes(first.workflow, 'success');
		await editor.closeNode();
		const second = await start(3);
		await second.panel.getByText(/^0 of 3 ready\. About .* in the last 5\)/).waitFor();
		await editor.takePicture('expected-learned');
		stage.gateway.off('job', learn);
	}, 600_000);
});
