import type { IDataObject, IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readExample, secondRunOf, withFolder, withSettings } from '../support/workflows/examples';
import { picture, sampleVideo } from '../support/data/samples';
import type { WorkflowJson } from '../harness/workflow';
import { readMp4 } from '../support/files/mp4';
import type { Editor } from '../n8n/editor';
import { having } from '../n8n/features';
import { testedVersion } from '../n8n/installation';
import { McpClient } from '../n8n/mcpClient';
import { fetchPublished, itemsOf, type Execution } from '../n8n/owner';
import { shared } from './support/shared';
import { withStage } from './support/stage';
import { until } from '../support/time/until';
import { core, type Node, withCredential } from '../support/workflows/workflows';

/** Each example is started as its user starts it. */
describe('examples started in other ways than in the editor', () => {
	const stage = withStage({
		jobSeconds: ({ order }) => (order.prompt.includes('[slow]') ? Infinity : 1),
	});

	/** The files of a video, whose names continue with the ID of their job. */
	const savedAs = (name: string, kind = 'video') =>
		readdirSync(shared.filesFolder)
			.filter((file) => file.startsWith(`${name}-${kind}_`) && file.endsWith('.mp4'))
			.map((file) => path.join(shared.filesFolder, file));
	const ready = (file: string, settings: IDataObject = {}) =>
		withCredential(
			withSettings(withFolder(readExample(file), shared.filesFolder), settings),
			stage.credential,
		);
	const jobOf = (prompt: string) => {
		const found = stage.gateway.jobs.list().find(({ order }) => order.prompt === prompt);
		if (!found) throw new Error(`“${prompt}” was not ordered`);
		return found;
	};

	describe('one-execution-per-video.json', () => {
		const file = 'one-execution-per-video.json';
		let byHand: IWorkflowBase;
		let bySchedule: IWorkflowBase;
		const video = (name: string, prompt = name) => ({ name, model: 'vid-3.1', prompt });

		beforeAll(async () => {
			const { owner } = stage;
			byHand = await owner.createWorkflow(ready(file, { videos: [video('by-hand')] }));
			const videos = [
				video('slow', 'A long one [slow]'),
				video('refused', '[blocked]'),
				video('quick'),
			];
			// A webhook starts it at once and, like a schedule, without the editor.
			const webhookId = `list-${Date.now()}`;
			const trigger = core('Start', 'webhook', { path: webhookId }, 2.1);
			bySchedule = await owner.createWorkflow(replaced(ready(file, { videos }), trigger));
			await owner.publish(bySchedule as IWorkflowBase & { versionId: string });
			await owner.start(byHand);
			await fetchPublished(`${owner.url}/webhook/${webhookId}`);
		});

		const states = async (workflow: IWorkflowBase) =>
			(await stage.owner.executionsOf(workflow)).map(({ status }) => status).sort();

		it('lists a refused order, and lets the other videos wait in executions of their own', async () => {
			await until(async () => (await states(bySchedule)).length === 3);
			await until(async () => (await states(bySchedule)).includes('success'));
			const list = (await stage.owner.executionsOf(bySchedule)).at(-1);
			const execution = await stage.owner.execution(list?.id ?? '');
			expect(execution.status).toBe('success');
			expect(itemsOf(execution, 'Failed Orders').map(({ json }) => json)).toEqual([
				{
					video: 'refused',
					reason: expect.stringContaining('blocked by content moderation'),
					what_to_do: expect.stringContaining('Change the prompt'),
				},
			]);
			await until(
				async () => (await states(bySchedule)).filter((is) => is === 'waiting').length === 2,
			);
		});

		it('saves each video when it is finished, while a longer one of the same list is being made', async () => {
			await until(() => [...savedAs('quick'), ...savedAs('by-hand')].length === 2, 100);
			expect(savedAs('slow')).toEqual([]);
			await until(async () => (await states(bySchedule)).join() === 'success,success,waiting');
			expect(await states(byHand)).toEqual(['success', 'success']);

			const { id } = jobOf('A long one [slow]');
			stage.gateway.jobs.complete(id, await sampleVideo());
			await until(() => savedAs('slow').length === 1, 100);
			await until(async () => (await states(bySchedule)).every((state) => state === 'success'));
			for (const name of ['quick', 'by-hand', 'slow']) {
				const [saved] = savedAs(name);
				const { codec } = await readMp4(readFileSync(saved));
				expect(codec).toMatch(/^avc1\./);
			}
		}, 240_000);

		it('one-execution-per-video.json orders each video once, also in another run', async () => {
			const { gateway, owner } = stage;
			const again = await owner.ended(await owner.start(byHand));
			expect([again.status, secondRunOf(readExample(file))]).toEqual(['success', 'nothing']);
			const { ledger, jobs } = gateway;
			const prompts = ledger.map(({ job }) => jobs.get(job ?? '')?.order.prompt);
			expect(prompts.sort()).toEqual(['A long one [slow]', 'by-hand', 'quick']);
		});
	});

	it('jobs-of-stopped-executions.json saves the videos of an execution that was stopped while it ordered', async () => {
		const { owner, gateway } = stage;
		const video = (name: string) => ({ name, model: 'vid-3.1', prompt: name });
		const videos = [video('stopped'), video('stopped [fail]'), video('held back')];
		const released = new AbortController();
		gateway.fault({
			route: 'videoCreate',
			action: 'stall',
			until: once(released.signal, 'abort'),
			when: ({ body }) => (body as IDataObject).prompt === 'held back',
		});
		const list = await owner.createWorkflow(ready('one-execution-per-video.json', { videos }));
		const id = await owner.start(list);
		const known = () =>
			gateway.jobs.list().filter(({ order: { prompt } }) => prompt.startsWith('stopped'));
		// The responses must have reached n8n.
		const log = path.join(shared.folder, 'n8n.log');
		await until(() => {
			const text = readFileSync(log, 'utf8');
			return known().filter((job) => text.includes(`jobId=${job.id}`)).length === 2;
		});
		await owner.request('POST', `/executions/${id}/stop`);
		await owner.ended(id);
		released.abort();

		const { rawApiKey } = await owner.request<{ rawApiKey: string }>('POST', '/api-keys', {
			label: randomUUID(),
			expiresAt: null,
			scopes: ['execution:list', 'execution:read'],
		});
		const n8nApi = await owner.createCredentialOf('n8nApi', {
			apiKey: rawApiKey,
			baseUrl: `${owner.url}/api/v1`,
		});
		// The API of n8n 1 knows no status "crashed".
		const killed = testedVersion.startsWith('1.') ? 'error' : 'crashed';
		const example = ready('jobs-of-stopped-executions.json', { statuses: ['canceled', killed] });
		const nodes = example.nodes.map((node) =>
			node.type.endsWith('.n8n') ? { ...node, credentials: { n8nApi } } : node,
		);
		const ordered = gateway.ledger.length;
		const execution = await owner.run({ ...example, nodes });
		expect(execution.status).toBe('success');
		// Other tests may have stopped executions before.
		const found = itemsOf(execution, 'Job IDs').map(({ json }) => json);
		expect(found.filter(({ execution: of }) => String(of) === id)).toEqual(
			expect.arrayContaining(
				known().map(({ id: job }) => ({
					job,
					workflow: list.name,
					started: expect.any(String),
					execution: expect.anything(),
				})),
			),
		);
		const [fine, failed] = ['stopped', 'stopped [fail]'].map((prompt) => jobOf(prompt).id);
		const saved = readFileSync(path.join(shared.filesFolder, `${fine}.mp4`));
		expect(await readMp4(saved)).toMatchObject({ codec: expect.stringMatching(/^avc1\./) });
		expect(itemsOf(execution, 'Not Collected').map(({ json }) => json)).toContainEqual({
			job: failed,
			workflow: list.name,
			what_to_do: expect.any(String),
			reason: expect.stringContaining('asked the job to fail'),
		});
		expect(gateway.ledger).toHaveLength(ordered);
	});

	describe('product-videos-from-a-list.json', () => {
		const file = 'product-videos-from-a-list.json';
		let workflow: IWorkflowBase & { versionId: string };
		let orderedBefore: number;
		let editor: Editor | undefined;

		const rowsOf = (execution: Execution) =>
			itemsOf(execution, 'Without a Video').map(({ json }) => json);
		const shown = (execution: Execution) =>
			Object.fromEntries(rowsOf(execution).map(({ product, state }) => [product, state]));
		const left = { broken: 'failed', lost: 'unknown', 'not-allowed': 'refused' };
		const ordered = () => stage.gateway.ledger.length - orderedBefore;
		const run = async () => {
			const execution = await stage.owner.ended(await stage.owner.start(workflow));
			expect(execution.status).toBe('success');
			return execution;
		};

		/** Presses the button of the form. @returns the execution that it starts, once it has ended */
		async function press(): Promise<Execution> {
			const { owner } = stage;
			editor ??= await stage.editor();
			const { page } = editor;
			const known = (await owner.executionsOf(workflow)).map(({ id }) => id);
			await page.goto(`${owner.url}/form/order-again`, { waitUntil: 'commit' });
			// n8n asks a signed-in user whether the form may run.
			const allow = page.getByRole('button', { name: 'Allow access' });
			const order = page.getByRole('button', { name: 'Order Again' });
			await allow.or(order).waitFor();
			if (await allow.isVisible()) await allow.click();
			await order.click();
			// Executions that were parked are not always listed in the order in which they started.
			const begun = async () =>
				(await owner.executionsOf(workflow)).find(({ id }) => !known.includes(id))?.id;
			await until(async () => (await begun()) !== undefined);
			return await owner.ended((await begun()) ?? '', 240);
		}

		having('tables')(
			'keeps each product with its state, and shows those without a video',
			async () => {
				const { owner, gateway } = stage;
				orderedBefore = gateway.ledger.length;
				const link = gateway.addMedia('product.png', picture('green'), 'image/png');
				const product = (name: string, prompt = name) => ({
					product: name,
					prompt,
					model: 'beta-2.7-r2v',
					seconds: 2,
					pictures: [link],
				});
				const products = [
					product('fine'),
					product('not-allowed', '[blocked]'),
					product('broken', '[fail]'),
					product('lost'),
					product('not-fetched'),
				];
				gateway.fault({
					route: 'referenceVideoCreate',
					action: 'reset',
					accepted: true,
					when: ({ body }) => (body as { input: IDataObject }).input.prompt === 'lost',
				});
				const noFile = gateway.fault({
					route: 'download',
					times: Infinity,
					action: 'error',
					status: 403,
					code: 'permission_denied',
					when: ({ jobId }) => jobId === jobOf('not-fetched').id,
				});
				const example = ready(file, { products });
				const nodes = example.nodes.map((node) => ({
					...node,
					...(node.name === 'Order Again' && { webhookId: 'order-again' }),
				}));
				workflow = await owner.createWorkflow({ ...example, nodes });
				await owner.publish(workflow);
				const execution = await run();
				noFile.remove();
				expect(shown(execution)).toEqual({ ...left, 'not-fetched': 'ordered' });
				expect(rowsOf(execution)).toContainEqual(
					expect.objectContaining({
						product: 'broken',
						job: jobOf('[fail]').id,
						attempt: 1,
						reason: expect.stringContaining('asked the job to fail'),
					}),
				);
				expect(savedAs('fine', 'task')).toHaveLength(1);
				expect(ordered()).toBe(4);
			},
		);

		having('tables')(
			'collects what was ordered in the next run, and orders failed products again at the press of a button',
			async () => {
				expect(shown(await run())).toEqual(left);
				expect([ordered(), secondRunOf(readExample(file))]).toEqual([4, 'nothing']);
				expect(shown(await press())).toEqual(left);
				const again = expect.objectContaining({ product: 'broken', attempt: 3 });
				expect(rowsOf(await press())).toContainEqual(again);
				expect(ordered()).toBe(6);
				expect(savedAs('not-fetched', 'task')).toHaveLength(1);
			},
			240_000,
		);
	});

	describe('video-tool-over-mcp.json', () => {
		const token = randomUUID();
		let url: string;

		beforeAll(async () => {
			const { owner } = stage;
			const httpBearerAuth = await owner.createCredentialOf('httpBearerAuth', { token });
			const example = withCredential(readExample('video-tool-over-mcp.json'), stage.credential);
			const webhookId = randomUUID();
			const nodes = example.nodes.map((node) =>
				node.name === 'MCP Server Trigger'
					? { ...node, webhookId, credentials: { httpBearerAuth } }
					: node,
			);
			await owner.publish(await owner.createWorkflow({ ...example, nodes }));
			url = `${owner.url}/mcp/videos`;
			// The server also responds to a request without a token.
			await fetchPublished(url, { method: 'POST' });
		});

		it('the MCP tools order a video, respond before it is finished, and then give its link', async () => {
			const { gateway } = stage;
			const before = gateway.ledger.length;
			const client = await McpClient.connect(url, token);
			const tools = await client.tools();
			const inputs = tools.map(({ name, inputSchema }) => [
				name,
				Object.keys(inputSchema.properties),
			]);
			expect(Object.fromEntries(inputs)).toEqual({
				Create_Video: ['prompt'],
				Wait_for_Video: ['job_id'],
			});

			const prompt = 'A boat for a client [slow]';
			const ordered = await client.call('Create_Video', { prompt });
			expect(ordered).toMatchObject({ id: jobOf(prompt).id });
			const job_id = ordered.id;
			const early = await client.call('Wait_for_Video', { job_id });
			expect(early).toMatchObject({
				id: job_id,
				next_step: expect.stringContaining('not finished yet') as string,
				message: expect.stringContaining('did not finish within 0.5 minutes') as string,
			});
			expect(early).not.toHaveProperty('url');

			gateway.jobs.complete(jobOf(prompt).id, await sampleVideo());
			const ready = await client.call('Wait_for_Video', { job_id });
			expect(ready).toMatchObject({ id: job_id, status: 'completed' });
			const file = await fetch(String(ready.url));
			expect(await readMp4(new Uint8Array(await file.arrayBuffer()))).toMatchObject({
				codec: expect.stringMatching(/^avc1\./),
			});
			expect(gateway.ledger.slice(before).map(({ job }) => job)).toEqual([job_id]);
		});

		having('mcpOrders')(
			'the MCP tools report a failed video to a client and order no other',
			async () => {
				const before = stage.gateway.ledger.length;
				const client = await McpClient.connect(url, token);
				const { id } = await client.call('Create_Video', { prompt: 'A boat [fail]' });
				const failed = await client.call('Wait_for_Video', { job_id: id });
				expect(JSON.stringify(failed)).toMatch(/Video job video_\S+ failed/);
				const unknown = await client.call('Wait_for_Video', { job_id: 'video_of_nobody' });
				expect(JSON.stringify(unknown)).toContain('HTTP 404');
				expect(JSON.stringify(unknown)).not.toMatch(/not finished yet|Call the tool/);
				expect(stage.gateway.ledger).toHaveLength(before + 1);
			},
		);
	});
});

/** Replaces the trigger of the same name. */
function replaced(workflow: WorkflowJson, trigger: Node): WorkflowJson {
	const nodes = workflow.nodes.map((node) =>
		node.name === trigger.name ? { ...node, ...trigger } : node,
	);
	return { ...workflow, nodes };
}
