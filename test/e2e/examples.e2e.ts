import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { withSettings } from '../demo/example';
import { picture, sampleVideo } from '../engine/support/samples';
import type { Gateway } from '../gateway';
import { earlierJob } from '../support/earlierJobs';
import { readMp4 } from '../support/mp4';
import type { Editor } from './support/editor';
import { exampleFiles, readyExample, withCredential } from './support/examples';
import { having, lackOf } from './support/features';
import { itemsOf, type Execution } from './support/owner';
import { shared } from './support/shared';
import { openStage, type Stage } from './support/stage';

const mp4 = expect.objectContaining({
	mimeType: 'video/mp4',
	fileName: expect.stringMatching(/\.mp4$/),
});
const png = expect.objectContaining({ mimeType: 'image/png' });
const files = (items: INodeExecutionData[]) => items.map(({ binary }) => binary?.data);
const json = (items: INodeExecutionData[]) => items.map((item) => item.json);

/** What each example has to put out, and the files that it leaves. */
const outputs: Record<
	string,
	{
		check(execution: Execution): void;
		saves: RegExp[];
		/** What its user writes into "Your Settings", beside links and folder. */
		settings?(gateway: Gateway): Promise<IDataObject>;
	}
> = {
	'reference-video-to-file.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^walk-on-the-beach\.mp4$/],
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
		saves: [/^Desk Lamp\.mp4$/, /^Running Shoe\.mp4$/, /^Travel Mug\.mp4$/],
	},
	'scheduled-daily-video.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^good-morning-\d{4}-\d\d-\d\d\.mp4$/],
	},
	'product-pictures.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Put in Scene'))).toEqual([png, png]),
		saves: [/^Desk Lamp\.png$/, /^Travel Mug\.png$/],
	},
	'storyboard-to-video.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^paper-boat\.(mp4|png)$/, /^paper-boat\.(mp4|png)$/],
	},
	'podcast-cover-and-teaser.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^the-quiet-harbour\.(mp4|png)$/, /^the-quiet-harbour\.(mp4|png)$/],
		settings: (gateway) => {
			gateway.script('{"cover": "A lighthouse in fog", "teaser": "Its light turns"}');
			return Promise.resolve({});
		},
	},
	'from-http-request-to-model-gateway.json': {
		check: (execution) => expect(files(itemsOf(execution, 'Wait for Video'))).toEqual([mp4]),
		saves: [/^lake\.mp4$/],
	},
	'storyboard-of-scenes.json': {
		check: (execution) =>
			expect(files(itemsOf(execution, 'Wait for Clips'))).toEqual([mp4, mp4, mp4]),
		saves: [
			/^night-watch-01\.mp4$/,
			/^night-watch-02\.mp4$/,
			/^night-watch-03\.mp4$/,
			/^night-watch\.txt$/,
		],
	},
	'semantic-search.json': {
		check: (execution) =>
			expect(json(itemsOf(execution, 'Best Documents'))).toMatchObject([{ title: 'Refunds' }]),
		saves: [],
	},
	'usage-table.json': {
		check: (execution) => {
			const rows = lackOf('tables') ? [] : usageRows(execution);
			expect(json(itemsOf(execution, 'Save Usage'))).toMatchObject(rows);
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
		saves: [/^alt-texts\.csv$/, /^green\.png$/],
		// In the folder are pictures of other examples, too.
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

/** What usage-table.json has to save of an execution. */
const usageRows = (execution: Execution) =>
	['Ask Chat', 'Ask Messages', 'Embed Text', 'Draw Picture'].map((step) => {
		const { usage, request_id } = itemsOf(execution, step)[0].json;
		const { prompt_tokens, input_tokens, completion_tokens, output_tokens } = usage as IDataObject;
		return {
			...{ step, request: request_id },
			input_tokens: Number(prompt_tokens ?? input_tokens),
			output_tokens: Number(completion_tokens ?? output_tokens ?? 0),
		};
	});

/**
 * Those with n8n's AI nodes, those that ask a person, and those that something else starts: agents.e2e.ts,
 * humanReview.e2e.ts, startedExamples.e2e.ts and triggeredExamples.e2e.ts run them.
 */
const elsewhere = [
	'answer-now-deliver-later.json',
	'documents-in-a-vector-store.json',
	'failed-items-to-order-again.json',
	'faq-with-embeddings.json',
	'one-execution-per-video.json',
	'picture-refined-in-a-chat.json',
	'product-videos-from-a-form.json',
	'scheduled-list-with-approval.json',
	'video-agent-with-approval.json',
	'video-agent.json',
	'video-tool-over-mcp.json',
];

/** Names, and when each was last written. */
const filesIn = (folder: string) =>
	new Map(readdirSync(folder).map((name) => [name, statSync(path.join(folder, name)).mtimeMs]));

describe('each example, imported and executed in the editor', () => {
	let stage: Stage;
	let editor: Editor;

	beforeAll(async () => {
		stage = await openStage();
		editor = await stage.editor();
	});
	afterAll(async () => await stage.close());

	it.each(Object.keys(outputs))('%s', async (file) => {
		const { check, saves, settings } = outputs[file];
		// Another test file may have left a file of the same name.
		const before = filesIn(shared.filesFolder);
		const example = await readyExample(file, {
			gateway: stage.gateway,
			filesFolder: shared.filesFolder,
		});
		const set = settings ? withSettings(example, await settings(stage.gateway)) : example;
		await editor.importWorkflow(stage.imported(set));
		expect(await editor.execute()).toBe('Workflow executed successfully');
		expect(editor.complaints).toEqual([]);

		const [latest] = await stage.owner.executionsOf({ id: editor.workflowId });
		check(await stage.owner.execution(latest.id));
		const saved = [...filesIn(shared.filesFolder)]
			.filter(([name, changed]) => before.get(name) !== changed)
			.map(([name]) => name);
		expect(saved.sort()).toEqual(saves.map((name) => expect.stringMatching(name)));
		for (const name of saved.filter((found) => found.endsWith('.mp4'))) {
			const { codec } = await readMp4(readFileSync(path.join(shared.filesFolder, name)));
			expect(codec).toMatch(/^avc1\./);
		}
	});

	having('tables')(
		'usage-table.json adds up what each request used, and counts nothing twice',
		async () => {
			const { owner, gateway, credential } = stage;
			const example = await readyExample('usage-table.json', {
				gateway,
				filesFolder: shared.filesFolder,
			});
			const { nodes, ...rest } = withCredential(example, credential);
			const save = nodes.filter((node) => node.name === 'Save Usage');
			const again = save.map((node) => ({ ...node, id: randomUUID(), name: 'Save Again' }));
			const toAgain = { node: 'Save Again', type: 'main' as const, index: 0 };
			rest.connections?.['One Item per Request'].main[0]?.push(toAgain);
			const name = `Counted ${Date.now()}`;
			const workflow = await owner.createWorkflow({ ...rest, name, nodes: [...nodes, ...again] });
			const executions = [await owner.ended(await owner.start(workflow))];
			executions.push(await owner.ended(await owner.start(workflow)));

			const [, last] = executions;
			const used = executions.flatMap(usageRows);
			const sum = (tokens: 'input_tokens' | 'output_tokens') =>
				used.reduce((total, row) => total + row[tokens], 0);
			expect(sum('input_tokens')).toBeGreaterThan(0);
			expect(json(itemsOf(last, 'Per Workflow'))).toContainEqual({
				...{ workflow: name, count_request: 8 },
				sum_input_tokens: sum('input_tokens'),
				sum_output_tokens: sum('output_tokens'),
			});

			expect(itemsOf(last, 'Save Again')).toHaveLength(4);
			const [{ json: table }] = itemsOf(last, 'Usage Table');
			const place = `/projects/${String(table.projectId)}/data-tables/${String(table.id)}/rows`;
			const rows = await owner.request<{ data: IDataObject[] }>('GET', place);
			expect(rows.data.filter((row) => row.workflow === name)).toMatchObject(used);
		},
	);

	it('none is left out', () => {
		expect(exampleFiles.toSorted()).toEqual([...Object.keys(outputs), ...elsewhere].sort());
	});
});
