import { withSettings } from '../support/workflows/examples';
import { readyExample } from '../n8n/examples';
import { shared } from './support/shared';
import { withStage } from './support/stage';

describe('a video in the editor', () => {
	const stage = withStage({ isRendered: true });

	it('the editor orders a video, waits for it, and plays it in the binary view', async () => {
		const { gateway } = stage;
		const { filesFolder } = shared;
		const example = await readyExample('reference-video-to-file.json', { gateway, filesFolder });
		const editor = await stage.editor();
		await editor.importWorkflow(stage.imported(withSettings(example, { seconds: 2 })));
		expect(await editor.execute()).toBe('Workflow executed successfully');
		await editor.page.getByRole('button', { name: 'Execute workflow' }).last().waitFor();
		await editor.takePicture('workflow');

		await editor.openNode('Wait for Video');
		await editor.page.getByTestId('radio-button-binary').click();
		await editor.page.getByTestId('ndv-view-binary-data').click();
		const video = editor.page.locator('video');
		await video.waitFor();
		await editor.page.waitForFunction(
			() => (document.querySelector('video')?.readyState ?? 0) >= 2,
		);
		expect(
			await video.evaluate((element) => {
				const { duration, videoWidth, videoHeight, error } = element as HTMLVideoElement;
				return { duration, videoWidth, videoHeight, error };
			}),
		).toEqual({ duration: 2, videoWidth: 1280, videoHeight: 720, error: null });
		await video.evaluate(async (element: HTMLVideoElement) => {
			element.pause();
			element.currentTime = 1;
			await new Promise((resolve) => element.addEventListener('seeked', resolve, { once: true }));
		});
		await editor.takePicture('video-in-n8n');
		expect(gateway.ledger).toHaveLength(1);
		expect(editor.complaints).toEqual([]);
	});
});
