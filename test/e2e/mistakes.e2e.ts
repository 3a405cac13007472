import { setTimeout } from 'node:timers/promises';
import type { Editor } from '../n8n/editor';
import { openStage, type Stage } from './support/stage';
import { byId, chain, modelGateway } from '../support/workflows/workflows';

/** Milliseconds: the goal for a health check, and the limit for the best of three tries on a busy machine. */
const [goal, limit] = [100, 500];

describe('errors shown in the panel', () => {
	let stage: Stage;
	let editor: Editor;

	beforeAll(async () => {
		stage = await openStage();
		editor = await stage.editor();
	});
	afterAll(async () => await stage.close());

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
			...{ resource: 'referenceVideo', operation: 'create', prompt: 'Image 1 dances' },
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
			...{ resource: 'video', operation: 'create', prompt: '[blocked]' },
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
			...{ route: 'videoCreate', action: 'answer', status: 400 },
			...{ headers: { 'x-request-id': hostile } },
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

	/** Milliseconds of the slowest health check while a chat is refused with this message. */
	const slowestCheck = async (message: string, status: number): Promise<number> => {
		const { gateway, owner } = stage;
		const fault = gateway.fault({
			...{ route: 'chat', action: 'error', status, code: 'odd', message },
			...{ times: Infinity, headers: { 'Retry-After': '1' } },
		});
		const chat = modelGateway({
			...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
			messages: { values: [{ role: 'user', content: 'Hi' }] },
		});
		let slowest = 0;
		let isDone = false;
		const asking = (async () => {
			while (!isDone) {
				const begin = performance.now();
				await fetch(`${owner.url}/healthz`);
				slowest = Math.max(slowest, performance.now() - begin);
				await setTimeout(20);
			}
		})();
		const { data } = await stage.run(chain(chat));
		isDone = true;
		await asking;
		fault.remove();
		expect(data.resultData.error?.message).toContain(`HTTP ${status}`);
		return slowest;
	};

	it.each([
		['insufficient_', 429],
		['violat ', 403],
	])(
		'n8n stays responsive while the node reads an error message of 420 kB: %s (HTTP %d)',
		async (part, status) => {
			const short = await slowestCheck('Short', status);
			const message = part.repeat(420_000 / part.length);
			let long = Infinity;
			for (let tries = 0; tries < 3 && long > goal; tries++) {
				long = Math.min(long, await slowestCheck(message, status));
			}
			console.info(
				`The slowest health check took ${Math.round(long)} ms, and ${Math.round(short)} ms with a short message`,
			);
			expect(long).toBeLessThanOrEqual(limit);
		},
	);
});
