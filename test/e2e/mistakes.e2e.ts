import { withEditor, withStage } from './support/stage';
import { byId, chain, modelGateway } from '../support/workflows/workflows';

describe('errors shown in the panel', () => {
	const stage = withStage();
	const editor = withEditor(stage);

	const run = async (parameters: Parameters<typeof modelGateway>[0]) => {
		await editor.openWorkflow(await stage.create(chain(modelGateway(parameters))));
		await editor.execute();
		await editor.openNode('Model Gateway');
		await editor.page.getByTestId('node-error-message').waitFor();
		return await editor.page.getByTestId('output-panel').innerText();
	};

	it('the panel shows all problems of the input at once, before anything is sent', async () => {
		const before = stage.gateway.requests.length;
		const shown = await run({
			resource: 'referenceVideo',
			operation: 'create',
			prompt: 'Image 1 dances',
			media: {
				values: [{ type: 'reference_image', source: 'url', url: 'ftp://firm.example/a.png' }],
			},
			options: { duration: 99 },
		});
		expect(shown).toContain('Media 1: URL must be a public https link');
		expect(shown).toContain('Duration (Seconds) must be a whole number from 2 to 15 (it is 99)');
		expect(shown).toContain('Nothing was sent and nothing was charged');
		expect(stage.gateway.requests).toHaveLength(before);
		await editor.takePicture('wrong-input');
	});

	it("the panel shows the service's refusal, what to do, and the request ID", async () => {
		const shown = await run({
			resource: 'video',
			operation: 'create',
			prompt: '[blocked]',
			model: byId('vid-3.1'),
		});
		expect(shown).toContain('blocked by content moderation');
		expect(shown).toContain('Change the prompt');
		expect(shown).toMatch(/Nothing was charged\..*\(Request ID req_\w+\)/s);
		await editor.takePicture('refused');
	});

	const hostile = '<img src=https://evil.example/a.png><a href=https://evil.example>open</a>';
	/** Links and pictures of others on the page. */
	const strange = () =>
		editor.page.locator('a[href*="evil.example"], img[src*="evil.example"]').count();

	it('the editor shows HTML in an error of the service as text, also in its notification', async () => {
		stage.gateway.fault({
			route: 'videoCreate',
			action: 'answer',
			status: 400,
			headers: { 'x-request-id': hostile },
			body: JSON.stringify({ error: { message: hostile, type: 'a', code: 'invalid_prompt' } }),
		});
		const create = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
		await editor.openWorkflow(
			await stage.create(chain(modelGateway({ ...create, prompt: 'A boat' }))),
		);
		await editor.execute();
		const notification = editor.page.locator('.content-toast', { hasText: 'Model Gateway' });
		await notification.getByText('img src=https://evil.example/a.png').waitFor();
		expect(await strange()).toBe(0);
		await editor.openNode('Model Gateway');
		const panel = editor.page.getByTestId('output-panel');
		await panel.getByText(`(Request ID ${hostile}`).first().waitFor();
		expect(await strange()).toBe(0);
	});

	it('the editor shows HTML in an Order Key as text', async () => {
		const create = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
		const options = { once: { orderKey: hostile, releaseOrderKey: true } };
		const node = modelGateway({ ...create, prompt: 'A boat', options });
		await editor.openWorkflow(await stage.create(chain(node)));
		await editor.execute();
		await editor.openNode('Model Gateway');
		const hint = editor.page.getByTestId('node-hint').getByText('Released, and nothing ordered');
		expect(await hint.innerText()).toContain(hostile);
		expect(await strange()).toBe(0);
	});
});
