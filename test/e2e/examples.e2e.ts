import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { readdirSync, readFileSync, statSync } from 'node:fs';
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
import { having } from '../n8n/features';
import { itemsOf, type Execution } from '../n8n/owner';
import { shared } from './support/shared';
import { openStage, type Stage } from './support/stage';
import type { WorkflowJson } from '../harness/workflow';

const json = (items: INodeExecutionData[]) => items.map((item) => item.json);

/** The files that each example saves, and what else is expected of it. */
const outputs: Record<
	string,
	{
		saves?: RegExp[];
		check?(execution: Execution): void;
		/** Entries of its user in "Your Settings", besides the links and the folder. */
		settings?(gateway: Gateway): Promise<IDataObject>;
	}
> = {
	'reference-video-to-file.json': { saves: [/^my-video-task_.*\.mp4$/] },
	'collect-video-by-id.json': {
		saves: [/^task_.*\.mp4$/],
		settings: async (gateway) => ({
			job_ids: earlierJob(gateway, 'task', await sampleVideo()).id,
		}),
	},
	'scheduled-daily-video.json': { saves: [/^good-morning-\d{4}-\d\d-\d\d-video_.*\.mp4$/] },
	'product-pictures.json': { saves: [/^Desk Lamp-.*\.png$/, /^Travel Mug-.*\.png$/] },
	'storyboard-to-video.json': { saves: [/^my-video-task_.*\.mp4$/, /^storyboard-.*\.png$/] },
	'podcast-cover-and-teaser.json': { saves: [/^cover-.*\.png$/, /^teaser-task_.*\.mp4$/] },
	'from-http-request-to-model-gateway.json': { saves: [/^my-video-video_.*\.mp4$/] },
	'storyboard-of-scenes.json': {
		saves: [
			/^night-watch-01-take-1\.mp4$/,
			/^night-watch-0[23]-take-1\.mp4$/,
			/^night-watch\.txt$/,
		],
	},
	'semantic-search.json': {
		check: (execution) =>
			expect(json(itemsOf(execution, 'Best Documents'))).toMatchObject([{ title: 'Refunds' }]),
	},
	'cost-log.json': {},
	'alt-texts-for-pictures.json': {
		check: (execution) =>
			expect(json(itemsOf(execution, 'One Row per Picture'))).toEqual([
				{
					file: 'green.png',
					alt_text: expect.stringContaining('mostly green'),
					problem: '',
					what_to_do: '',
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
		check: (execution) => expect(itemsOf(execution, 'Billing')).toHaveLength(1),
	},
};

/** The tokens that went into each request of cost-log.json, and what it cost. */
const costRows = (execution: Execution) =>
	['Ask Chat', 'Ask Messages', 'Embed Text', 'Draw Picture'].map((step) => {
		const { usage, estimated_cost } = itemsOf(execution, step)[0].json;
		const { prompt_tokens, input_tokens } = usage as IDataObject;
		return [Number(prompt_tokens ?? input_tokens), Number(estimated_cost ?? 0)];
	});

/**
 * Examples that other files run: with n8n's AI nodes (agents.e2e.ts), with human approval (humanReview.e2e.ts), and
 * started in other ways than in the editor (startedExamples.e2e.ts, triggeredExamples.e2e.ts and videoBot.e2e.ts).
 * Those that call other services are run by test/promises/the-examples-run-as-they-are.test.ts.
 */
const elsewhere = [
	'answer-now-deliver-later.json',
	'documents-in-a-vector-store.json',
	'faq-with-embeddings.json',
	'film-with-voice-over.json',
	'jobs-of-stopped-executions.json',
	'one-execution-per-video.json',
	'picture-refined-in-a-chat.json',
	'post-video-after-approval.json',
	'product-videos-from-a-form.json',
	'product-videos-from-a-list.json',
	'scheduled-list-with-approval.json',
	'shop-feed-to-videos.json',
	'video-agent-with-approval.json',
	'video-agent.json',
	'video-bot.json',
	'video-tool-over-mcp.json',
];

describe('examples with the settings of their users', () => {
	let stage: Stage;
	/** All run at the same time, because they mostly wait. */
	const executions = new Map<string, Promise<Execution>>();
	/** Another test file may have left a file of the same name. */
	let begun: number;

	beforeAll(async () => {
		const perToken = { per_million_input_tokens: 2000, per_million_output_tokens: 8000 };
		const prices = { 'chat-1': perToken, 'embed-1': perToken, 'image-1': { per_image: 0.04 } };
		stage = await openStage({ prices });
		begun = Date.now();
		for (const [file, { settings }] of Object.entries(outputs)) {
			const example = await readyExample(file, {
				gateway: stage.gateway,
				filesFolder: shared.filesFolder,
			});
			const set = settings ? withSettings(example, await settings(stage.gateway)) : example;
			const workflow = await stage.create(set);
			const execution = stage.owner.start(workflow).then(async (id) => await stage.owner.ended(id));
			execution.catch(() => undefined);
			executions.set(file, execution);
		}
	});
	afterAll(async () => await stage.close());

	const savedFiles = () =>
		readdirSync(shared.filesFolder)
			.filter((name) => statSync(path.join(shared.filesFolder, name)).mtimeMs >= begun)
			.sort();

	it.each(Object.keys(outputs))('%s succeeds with the expected output', async (file) => {
		const { check, saves = [] } = outputs[file];
		const execution = await executions.get(file);
		expect(execution?.status).toBe('success');
		check?.(execution as Execution);
		for (const name of savedFiles().filter((saved) => saves.some((own) => own.test(saved)))) {
			if (!name.endsWith('.mp4')) continue;
			const { codec } = await readMp4(readFileSync(path.join(shared.filesFolder, name)));
			expect(codec).toMatch(/^avc1\./);
		}
	});

	it('the examples save exactly the expected files', async () => {
		await Promise.all(executions.values());
		const named = Object.values(outputs).flatMap(({ saves = [] }) => saves);
		const saved = savedFiles();
		expect(saved.filter((name) => !named.some((own) => own.test(name)))).toEqual([]);
		expect(named.filter((own) => !saved.some((name) => own.test(name)))).toEqual([]);
	});

	having('tables')(
		'cost-log.json adds up the usage of all runs, and counts the requests without a price',
		async () => {
			const name = `Counted ${Date.now()}`;
			const example = { ...readExample('cost-log.json'), name };
			const unpriced = { chat_model: 'chat-1-mini', embedding_model: 'embed-1-large' };
			let [tokens, cost] = [0, 0];
			const summed = async (workflow: WorkflowJson) => {
				const execution = await stage.run(workflow);
				for (const [input, price] of costRows(execution)) {
					tokens += input;
					cost += price;
				}
				const rows = json(itemsOf(execution, 'Per Workflow'));
				return rows.find((row) => row.workflow === name);
			};
			expect(await summed(example)).toMatchObject({ requests: 4, without_price: 0 });
			expect(cost).toBeGreaterThan(0.04);
			// Only the image has a price.
			expect(await summed(withSettings(example, unpriced))).toMatchObject({
				requests: 8,
				without_price: 3,
				input_tokens: tokens,
				estimated_cost: expect.closeTo(cost, 6),
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
