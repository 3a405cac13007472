import type { IDataObject, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readExample, withSettings } from '../support/workflows/examples';
import { picture, sampleVideo } from '../support/data/samples';
import type { Gateway } from '../../gateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { readMp4 } from '../support/files/mp4';
import { ModelGatewayApi } from '../../credentials/ModelGatewayApi.credentials';
import { ModelGateway } from '../../nodes/ModelGateway/ModelGateway.node.js';
import { exampleFiles, readyExample } from '../n8n/examples';
import { testedVersion, textsOfEditor } from '../n8n/installation';
import { having, lackOf } from '../n8n/features';
import { itemsOf, type Execution } from '../n8n/owner';
import { shared } from './support/shared';
import { openStage, type Stage } from './support/stage';
import { type Node, withCredential } from '../support/workflows/workflows';
import type { WorkflowJson } from '../harness/workflow';

const mp4 = expect.objectContaining({
	mimeType: 'video/mp4',
	fileName: expect.stringMatching(/\.mp4$/),
});
const png = expect.objectContaining({ mimeType: 'image/png' });
const files = (items: INodeExecutionData[]) => items.map(({ binary }) => binary?.data);
const json = (items: INodeExecutionData[]) => items.map((item) => item.json);

/** The expected output of each example, and the files that it saves. */
const outputs: Record<
	string,
	{
		check(execution: Execution): void;
		saves: RegExp[];
		/** What its user enters in "Your Settings", besides the links and the folder. */
		settings?(gateway: Gateway): Promise<IDataObject>;
		/** The answer of the chat model. */
		script?: string;
	}
> = {
	'reference-video-to-file.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^my-video-task_.*\.mp4$/],
	},
	'collect-video-by-id.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^task_.*\.mp4$/],
		settings: async (gateway) => ({
			job_ids: earlierJob(gateway, 'task', await sampleVideo()).id,
		}),
	},
	'product-videos-from-a-list.json': {
		check: (execution) =>
			expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4, mp4, mp4]),
		saves: [/^Desk Lamp-task_.*\.mp4$/, /^Running Shoe-task_.*\.mp4$/, /^Travel Mug-task_.*\.mp4$/],
	},
	'scheduled-daily-video.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^good-morning-\d{4}-\d\d-\d\d-video_.*\.mp4$/],
	},
	'product-pictures.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Put in Scene'))).toEqual([png, png]),
		saves: [/^Desk Lamp-.*\.png$/, /^Travel Mug-.*\.png$/],
	},
	'storyboard-to-video.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^my-video-task_.*\.mp4$/, /^storyboard-.*\.png$/],
	},
	'podcast-cover-and-teaser.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^cover-.*\.png$/, /^teaser-task_.*\.mp4$/],
		script: '{"cover": "A lighthouse in fog", "teaser": "Its light turns"}',
	},
	'from-http-request-to-model-gateway.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^my-video-video_.*\.mp4$/],
	},
	'storyboard-of-scenes.json': {
		check: (execution) =>
			expect(files(itemsOf(execution, 'Wait for Clips'))).toEqual([mp4, mp4, mp4]),
		saves: [
			/^night-watch-01-take-1\.mp4$/,
			/^night-watch-02-take-1\.mp4$/,
			/^night-watch-03-take-1\.mp4$/,
			/^night-watch\.txt$/,
		],
	},
	'semantic-search.json': {
		check: (execution) =>
			expect(json(itemsOf(execution, 'Best Documents'))).toMatchObject([{ title: 'Refunds' }]),
		saves: [],
	},
	'cost-log.json': {
		check: (execution) => {
			const rows = lackOf('tables') ? [] : costRows(execution);
			expect(json(itemsOf(execution, 'Save Costs'))).toMatchObject(rows);
		},
		saves: [],
	},
	'alt-texts-for-pictures.json': {
		check: (execution) =>
			expect(json(itemsOf(execution, 'One Row per Picture'))).toEqual([
				{
					...{ file: 'green.png', alt_text: expect.stringContaining('mostly green') },
					...{ problem: '', what_to_do: '' },
				},
			]),
		saves: [/^alt-texts-.*\.csv$/, /^green\.png$/],
		// The folder also contains images of other examples.
		settings: async () => {
			await writeFile(path.join(shared.filesFolder, 'green.png'), picture('green'));
			return { pictures: 'green.{png,jpg}' };
		},
	},
	'support-mail-triage.json': {
		check: (execution) => expect(itemsOf(execution, 'Judge Mail')).toHaveLength(3),
		saves: [],
	},
};

/** The rows that cost-log.json has to save for an execution. */
const costRows = (execution: Execution) =>
	['Ask Chat', 'Ask Messages', 'Embed Text', 'Draw Picture'].map((step) => {
		const { usage, estimated_cost, request_id } = itemsOf(execution, step)[0].json;
		const { prompt_tokens, input_tokens, completion_tokens, output_tokens } = usage as IDataObject;
		return {
			...{ step, request: request_id },
			input_tokens: Number(prompt_tokens ?? input_tokens),
			output_tokens: Number(completion_tokens ?? output_tokens ?? 0),
			estimated_cost: Number(estimated_cost),
		};
	});

/**
 * Examples that other files run: with n8n's AI nodes (agents.e2e.ts), with human approval (humanReview.e2e.ts), and
 * started in other ways than in the editor (startedExamples.e2e.ts and triggeredExamples.e2e.ts).
 */
const elsewhere = [
	'answer-now-deliver-later.json',
	'documents-in-a-vector-store.json',
	'failed-items-to-order-again.json',
	'faq-with-embeddings.json',
	'jobs-of-stopped-executions.json',
	'one-execution-per-video.json',
	'picture-refined-in-a-chat.json',
	'product-videos-from-a-form.json',
	'scheduled-list-with-approval.json',
	'video-agent-with-approval.json',
	'video-agent.json',
	'video-tool-over-mcp.json',
];

describe('examples with the settings of their users', () => {
	let stage: Stage;
	const workflows = new Map<string, IWorkflowBase>();
	/** All run at the same time, because they mostly wait. */
	const executions = new Map<string, Promise<Execution>>();
	/** Another test file may have left a file of the same name. */
	let begun: number;

	beforeAll(async () => {
		const perToken = { per_million_input_tokens: 2000, per_million_output_tokens: 8000 };
		const prices = { 'chat-1': perToken, 'embed-1': perToken, 'image-1': { per_image: 0.04 } };
		stage = await openStage({ prices });
		begun = Date.now();
		for (const [file, { settings, script }] of Object.entries(outputs)) {
			const example = await readyExample(file, {
				gateway: stage.gateway,
				filesFolder: shared.filesFolder,
			});
			const set = settings ? withSettings(example, await settings(stage.gateway)) : example;
			if (script !== undefined) stage.gateway.script(script);
			const workflow = await stage.create(set);
			workflows.set(file, workflow);
			const execution = stage.owner.start(workflow).then(async (id) => await stage.owner.ended(id));
			execution.catch(() => undefined);
			executions.set(file, execution);
			// Otherwise the next chat would get the same answer.
			if (script !== undefined) await execution;
		}
	});
	afterAll(async () => await stage.close());

	const savedFiles = () =>
		readdirSync(shared.filesFolder)
			.filter((name) => statSync(path.join(shared.filesFolder, name)).mtimeMs >= begun)
			.sort();

	it.each(Object.keys(outputs))('%s succeeds with the expected output', async (file) => {
		const { check, saves } = outputs[file];
		const execution = await executions.get(file);
		expect(execution?.status).toBe('success');
		check(execution as Execution);
		for (const name of savedFiles().filter((saved) => saves.some((own) => own.test(saved)))) {
			if (!name.endsWith('.mp4')) continue;
			const { codec } = await readMp4(readFileSync(path.join(shared.filesFolder, name)));
			expect(codec).toMatch(/^avc1\./);
		}
	});

	it('the examples save exactly the expected files', async () => {
		await Promise.all(executions.values());
		const named = Object.values(outputs).flatMap(({ saves }) => saves);
		const saved = savedFiles();
		expect(saved.filter((name) => !named.some((own) => own.test(name)))).toEqual([]);
		expect(named.filter((own) => !saved.some((name) => own.test(name)))).toEqual([]);
		expect(saved).toHaveLength(named.length);
	});

	/** Presses "Execute step" on a node, after a change of one node. @returns the ledger's new entries */
	async function chargesOfStep(
		file: string,
		node: string,
		[changed, change]: [string, (parameters: string) => string],
	) {
		await Promise.all(executions.values());
		const { owner, gateway } = stage;
		const workflow = workflows.get(file) as IWorkflowBase;
		const nodes = workflow.nodes.map((own) => {
			if (own.name !== changed) return own;
			const before = JSON.stringify(own.parameters);
			const after = change(before);
			expect(after).not.toBe(before);
			return { ...own, parameters: JSON.parse(after) as IDataObject };
		}) as IWorkflowBase['nodes'];
		const before = gateway.ledger.length;
		const run = (await executions.get(file)) as Execution;
		const execution = await owner.ended(
			await owner.executeStep({ ...workflow, nodes }, node, run, [changed]),
		);
		expect(execution.status).toBe('success');
		return { execution, charges: gateway.ledger.slice(before) };
	}

	const saves = Object.keys(outputs).flatMap((file) =>
		readExample(file)
			.nodes.filter(({ parameters, disabled }) => parameters?.operation === 'write' && !disabled)
			.map(({ name }) => [file, name]),
	);

	it.each(saves)(
		'%s saves its files in another folder after a correction in %s, and orders nothing again',
		async (file, node) => {
			const folder = path.join(shared.filesFolder, 'corrected');
			mkdirSync(folder, { recursive: true });
			const { execution, charges } = await chargesOfStep(file, node, [
				node,
				(parameters) => parameters.replace(shared.filesFolder, folder),
			]);
			expect(charges).toEqual([]);
			const saved = itemsOf(execution, node).map(({ json: { fileName } }) => String(fileName));
			expect(saved.length).toBeGreaterThan(0);
			for (const name of saved) {
				expect(path.dirname(name)).toBe(folder);
				expect(statSync(name).size).toBeGreaterThan(0);
			}
		},
	);

	it('semantic-search.json gives more documents after a correction in its last step, at no cost', async () => {
		const { execution, charges } = await chargesOfStep('semantic-search.json', 'Best Documents', [
			'Best Documents',
			(parameters) => parameters.replace('"maxItems":1', '"maxItems":3'),
		]);
		expect(itemsOf(execution, 'Best Documents')).toHaveLength(3);
		expect(charges).toEqual([]);
	});

	it('reference-video-to-file.json orders again after a change in a node before Create, as its note says', async () => {
		const { charges } = await chargesOfStep('reference-video-to-file.json', 'Save Video', [
			'Your Settings',
			(parameters) => parameters.replace('at sunset', 'at noon'),
		]);
		expect(charges).toHaveLength(1);
	});

	having('tables')(
		'cost-log.json adds up the usage of all requests and counts none twice',
		async () => {
			const { owner, gateway, credential } = stage;
			const example = await readyExample('cost-log.json', {
				gateway,
				filesFolder: shared.filesFolder,
			});
			const { nodes, ...rest } = withCredential(example, credential);
			const save = nodes.filter((node) => node.name === 'Save Costs');
			const again = save.map((node) => ({ ...node, id: randomUUID(), name: 'Save Again' }));
			const toAgain = { node: 'Save Again', type: 'main' as const, index: 0 };
			rest.connections?.['One Item per Request'].main[0]?.push(toAgain);
			const name = `Counted ${Date.now()}`;
			const workflow = await owner.createWorkflow({ ...rest, name, nodes: [...nodes, ...again] });
			const executions = [await owner.ended(await owner.start(workflow))];
			executions.push(await owner.ended(await owner.start(workflow)));

			const [, last] = executions;
			const used = executions.flatMap(costRows);
			const sum = (tokens: 'input_tokens' | 'output_tokens' | 'estimated_cost') =>
				used.reduce((total, row) => total + row[tokens], 0);
			expect(sum('input_tokens')).toBeGreaterThan(0);
			expect(sum('estimated_cost')).toBeGreaterThan(0.08);
			expect(json(itemsOf(last, 'Per Workflow'))).toContainEqual({
				...{ workflow: name, requests: 8, without_price: 0 },
				input_tokens: sum('input_tokens'),
				output_tokens: sum('output_tokens'),
				estimated_cost: expect.closeTo(sum('estimated_cost'), 6),
			});

			expect(itemsOf(last, 'Save Again')).toHaveLength(4);
			const [{ json: table }] = itemsOf(last, 'Cost Table');
			const place = `/projects/${String(table.projectId)}/data-tables/${String(table.id)}/rows`;
			const rows = await owner.request<{ data: IDataObject[] }>('GET', place);
			expect(rows.data.filter((row) => row.workflow === name)).toMatchObject(used);
		},
	);

	having('tables')(
		'cost-log.json counts the requests without a price, and gives no cost if it knows none',
		async () => {
			const example = readExample('cost-log.json');
			const unpriced = { chat_model: 'chat-1-mini', embedding_model: 'embed-1-large' };
			const order = {
				...{ resource: 'video', operation: 'create', prompt: 'A lighthouse at night' },
				model: { __rl: true, mode: 'id', value: 'vid-3.1' },
			};
			const { nodes, ...rest } = withSettings(example, unpriced);
			// A video without a price has neither a cost nor tokens.
			const ordering = (parameters: Node['parameters']) => ({
				...rest,
				nodes: nodes.map((node) => (node.name === 'Draw Picture' ? { ...node, parameters } : node)),
			});
			const rowOf = async (workflow: WorkflowJson, name: string) => {
				const execution = await stage.run({ ...workflow, name });
				const rows = json(itemsOf(execution, 'Per Workflow'));
				return rows.find((row) => row.workflow === name);
			};
			const name = `Without prices ${Date.now()}`;
			expect(await rowOf(ordering(order), name)).toMatchObject({
				...{ requests: 4, without_price: 4, estimated_cost: null },
			});
			// Only the image has a price.
			expect(await rowOf({ ...rest, nodes }, name)).toMatchObject({
				...{ requests: 8, without_price: 7, estimated_cost: 0.04 },
			});
			// A preview is no request.
			expect(await rowOf(ordering({ ...order, preview: true }), name)).toMatchObject({
				...{ requests: 11, without_price: 10, estimated_cost: 0.04 },
			});
		},
	);

	// n8n 1 has other labels: it does not publish workflows.
	having('autosave')('the notes name buttons and options as n8n shows them', () => {
		const own = JSON.stringify([new ModelGateway().description, new ModelGatewayApi().properties]);
		const texts = `${textsOfEditor(testedVersion)}\n${own}`;
		const unknown = exampleFiles.flatMap((file) => {
			const { nodes } = readExample(file);
			const names = nodes.map(({ name }) => name);
			const notes = nodes.filter(({ type }) => type.endsWith('.stickyNote'));
			const labels = notes.flatMap(({ parameters }) => {
				const text = String(parameters?.content);
				const verbs = /(?:press|choose|under|turn on|click|option|>) \*\*?([A-Z][^*]+)\*/gi;
				return [...text.matchAll(verbs)].map(([, label]) => label);
			});
			return labels
				.filter((label) => !names.includes(label))
				.map((label) =>
					names.reduce((rest, name) => rest.replace(new RegExp(` ?from ${name}$`), ''), label),
				)
				.filter((label) => !['"', '`'].some((quote) => texts.includes(quote + label)))
				.map((label) => `${file}: ${label}`);
		});
		expect(unknown).toEqual([]);
	});

	(process.env.UPDATE_PICTURES ? it : it.skip)(
		'takes a screenshot of each example as n8n shows it',
		async () => {
			const editor = await stage.editor();
			for (const file of exampleFiles) {
				await editor.importWorkflow(stage.imported(readExample(file)));
				await editor.takeCanvas(file.replace('.json', ''));
			}
		},
		10 * 60_000,
	);

	it('lists every example, as run by this file or by another one', () => {
		expect(exampleFiles.toSorted()).toEqual([...Object.keys(outputs), ...elsewhere].sort());
	});
});
