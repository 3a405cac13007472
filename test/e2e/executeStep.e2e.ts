import type { IWorkflowBase } from 'n8n-workflow';
import path from 'node:path';
import type { Locator } from '../n8n/editor';
import { lackOf } from '../n8n/features';
import { shared } from './support/shared';
import { withEditor, withStage } from './support/stage';
import { byId, chain, core, modelGateway, waitForVideo } from '../support/workflows/workflows';

/** Checks what docs/collect-by-id.md says about the buttons of the editor. */
describe('orders placed by runs in the editor', () => {
	const stage = withStage({ jobSeconds: 0, prices: { 'vid-3.1': { per_video: 0.4 } } });
	const editor = withEditor(stage);
	let workflow: IWorkflowBase;

	beforeAll(async () => {
		const create = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
		const fileName = path.join(shared.filesFolder, 'execute-step.mp4');
		workflow = await stage.create({
			...chain(
				modelGateway({ ...create, prompt: 'A boat' }, { name: 'Create Video' }),
				waitForVideo({ options: { pollIntervalSeconds: 3 } }),
				core('Save Video', 'readWriteFile', { operation: 'write', fileName }),
			),
			name: 'Product video',
			// Every workflow of the editor has it. Without it, n8n cannot execute a step.
			pinData: {},
		});
		await editor.openWorkflow(workflow);
	});

	/** How many videos are ordered by the execution that a button starts. */
	const ordersBy = async (button: Locator) => {
		const before = stage.gateway.ledger.length;
		const started = editor.page.waitForResponse((response) => response.url().endsWith('/run'));
		await button.click();
		const { data } = (await (await started).json()) as { data: { executionId: string } };
		expect((await stage.owner.ended(data.executionId)).status).toBe('success');
		// Until the editor notices the end, the button shows a spinner instead of its text.
		await button.filter({ hasText: /^Execute/ }).waitFor();
		return stage.gateway.ledger.length - before;
	};
	const executeWorkflow = async () =>
		await ordersBy(editor.page.getByTestId('execute-workflow-button'));
	const executeStep = async (node: string) => {
		await editor.openNode(node);
		const orders = await ordersBy(editor.page.getByTestId('node-execute-button'));
		await editor.closeNode();
		return orders;
	};
	/** n8n 2 saves by itself, a moment after the change. */
	const saved = async (change: () => Promise<void>) => {
		const isSaved = editor.page.waitForResponse(
			(response) =>
				response.request().method() === 'PATCH' && response.url().includes('/rest/workflows/'),
		);
		await change();
		if (lackOf('autosave')) await editor.page.keyboard.press('Control+s');
		await isSaved;
	};
	const changeCreate = async (prompt: string) => {
		await editor.openNode('Create Video');
		await editor.page.getByTestId('parameter-input-prompt').locator('textarea').fill(prompt);
		await editor.closeNode();
	};
	const noInput = () => editor.page.getByText('first runs the nodes before this one');

	it('a step orders nothing while Preview is on, and shows what would be ordered', async () => {
		const turnPreview = async () =>
			await saved(
				async () =>
					await editor.page
						.getByTestId('parameter-input-preview')
						.locator('.el-switch, [role="switch"]')
						.first()
						.click(),
			);
		await editor.openNode('Create Video');
		await turnPreview();
		expect(await ordersBy(editor.page.getByTestId('node-execute-button'))).toBe(0);
		const panel = editor.page.getByTestId('output-panel');
		await panel.getByText('1 video would be ordered. Estimated cost: 0.4.').waitFor();
		expect(await panel.innerText()).toContain('Preview: nothing was ordered');
		await editor.takePicture('preview');
		await turnPreview();
		await editor.closeNode();
	});

	it('later steps order nothing as long as the output of Create is there', async () => {
		expect(await executeWorkflow()).toBe(1);
		expect(await executeStep('Wait for Video')).toBe(0);
		expect(await executeStep('Save Video')).toBe(0);
	});

	it('a later step orders a new video after Create was changed', async () => {
		await saved(async () => await changeCreate('A boat at night'));
		expect(await executeStep('Wait for Video')).toBe(1);
	});

	it('a later step orders a new video after a reload of the page, as a hint says beforehand', async () => {
		await editor.openWorkflow(workflow);
		await editor.openNode('Wait for Video');
		await noInput().waitFor();
		await editor.takePicture('no-input');
		await editor.closeNode();
		expect(await executeStep('Wait for Video')).toBe(1);
		await editor.openNode('Wait for Video');
		await editor.page.getByTestId('ndv').getByText('Create Video').first().waitFor();
		expect(await noInput().count()).toBe(0);
		await editor.closeNode();
	});

	it('a run orders nothing while the output of Create is pinned', async () => {
		await saved(async () => {
			await editor.node('Create Video').click();
			await editor.page.locator('.vue-flow__node.selected').waitFor();
			await editor.page.keyboard.press('p');
		});
		expect(await executeWorkflow()).toBe(0);
		await saved(async () => await changeCreate('A boat in the rain'));
		expect(await executeStep('Wait for Video')).toBe(0);
		await editor.openWorkflow(workflow);
		await editor.page.getByTestId('canvas-node-status-pinned').waitFor();
		await editor.takePicture('pinned');
		expect(await executeStep('Wait for Video')).toBe(0);
		expect(await executeWorkflow()).toBe(0);
		expect(editor.complaints).toEqual([]);
	});
});
