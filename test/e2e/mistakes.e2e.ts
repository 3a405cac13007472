import { setTimeout } from 'node:timers/promises';
import type { Editor } from './support/editor';
import { openStage, type Stage } from './support/stage';
import { byId, modelGateway, startedBy } from './support/workflows';

describe('what went wrong is said in the panel', () => {
	let stage: Stage;
	let editor: Editor;

	beforeAll(async () => {
		stage = await openStage();
		editor = await stage.editor();
	});
	afterAll(async () => await stage.close());

	const run = async (parameters: Parameters<typeof modelGateway>[0]) => {
		const workflow = startedBy('manualTrigger', modelGateway(parameters, stage.credential));
		await editor.openWorkflow(await stage.owner.createWorkflow(workflow));
		await editor.execute();
		await editor.openNode('Model Gateway');
		await editor.page.getByTestId('node-error-message').waitFor();
		return await editor.page.getByTestId('output-panel').innerText();
	};

	it('input that would be refused, all of it at once, and before anything is sent', async () => {
		const before = stage.gateway.requests.length;
		const shown = await run({
			...{ resource: 'referenceVideo', operation: 'create', prompt: 'Image 1 dances' },
			media: {
				values: [{ type: 'reference_image', source: 'url', url: 'ftp://example.com/a.png' }],
			},
			options: { duration: 99 },
		});
		expect(shown).toContain('Media 1: URL must be a public https link');
		expect(shown).toContain('Duration (Seconds) must be a whole number from 2 to 15 (it is 99)');
		expect(shown).toContain('Nothing was sent and nothing was billed');
		expect(stage.gateway.requests).toHaveLength(before);
		await editor.takePicture('wrong-input');
	});

	it("the service's refusal, with its code and what to do", async () => {
		const shown = await run({
			...{ resource: 'video', operation: 'create', prompt: '[blocked]' },
			model: { __rl: true, mode: 'id', value: 'vid-3.1' },
		});
		expect(shown).toContain('blocked by content moderation');
		expect(shown).toContain('Change the prompt');
		expect(shown).toMatch(/request id req_/);
		await editor.takePicture('refused');
	});

	it.each([
		['insufficient_', 429],
		['violat ', 403],
	])(
		'a message of 420 kB, while n8n goes on with its other work: %s (%d)',
		async (part, status) => {
			const message = part.repeat(420_000 / part.length);
			const fault = stage.gateway.fault({
				...{ route: 'chat', action: 'error', status, code: 'odd', message },
				...{ times: Infinity, headers: { 'Retry-After': '1' } },
			});
			let slowest = 0;
			let isDone = false;
			const asking = (async () => {
				while (!isDone) {
					const begin = performance.now();
					await fetch(`${stage.owner.url}/healthz`);
					slowest = Math.max(slowest, performance.now() - begin);
					await setTimeout(20);
				}
			})();
			const shown = await run({
				...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
				messages: { values: [{ role: 'user', content: 'Hi' }] },
			});
			isDone = true;
			await asking;
			fault.remove();
			expect(shown).toContain(`HTTP ${status}`);
			console.info(`The slowest health check took ${Math.round(slowest)} ms`);
			// Without the editor, it takes some 10 ms; on a busy machine, more.
			expect(slowest).toBeLessThan(1_000);
		},
	);
});
