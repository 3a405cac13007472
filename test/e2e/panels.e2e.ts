import { until } from '../support/time/until';
import { withEditor, withStage } from './support/stage';
import {
	asTool,
	chain,
	chatModel,
	embeddings,
	modelGateway,
	waitForVideo,
} from '../support/workflows/workflows';

/** The fields that the panel shows for each operation, below Resource and Operation. */
const operations: Array<[resource: string, operation: string, fields: string[]]> = [
	['Chat', 'Complete', ['Model', 'Messages', 'Role', 'Content', 'Images', 'Simplify', 'Options']],
	['Embedding', 'Create', ['Model', 'Input', 'Simplify', 'Options']],
	[
		'Image',
		'Generate',
		[
			'Model',
			'Prompt',
			'Download',
			'Put Output File in Field',
			'Simplify',
			'Preview (Order Nothing)',
			'Options',
		],
	],
	[
		'Image',
		'Edit',
		[
			'Model',
			'Prompt',
			'Image Source',
			'Image Binary Field',
			'Mask Source',
			'Download',
			'Put Output File in Field',
			'Simplify',
			'Preview (Order Nothing)',
			'Options',
		],
	],
	[
		'Image',
		'Chat',
		[
			'Model',
			'Prompt',
			'Aspect Ratio',
			'Images',
			'Earlier Messages',
			'Download',
			'Put Output File in Field',
			'Simplify',
			'Preview (Order Nothing)',
			'Options',
		],
	],
	[
		'Message',
		'Create',
		['Model', 'Messages', 'Role', 'Content', 'Content (JSON)', 'Max Tokens', 'Simplify', 'Options'],
	],
	['Model', 'Get Many', ['Return All', 'Limit', 'Filter', 'Simplify', 'Options']],
	[
		'Reference Video',
		'Create',
		[
			'Model',
			'Prompt',
			'Media Input',
			'Media',
			'Type',
			'Source',
			'URL',
			'Voice URL',
			'Preview (Order Nothing)',
			'Options',
		],
	],
	['Reference Video', 'Get Status', ['Job ID', 'Options']],
	['Video', 'Create', ['Model', 'Prompt', 'Preview (Order Nothing)', 'Options']],
	['Video', 'Get Status', ['Job ID', 'Options']],
	['Video', 'Get Content', ['Job ID', 'Download', 'Put Output File in Field', 'Options']],
];

describe('the panels of the nodes', () => {
	const stage = withStage();
	const editor = withEditor(stage);

	beforeAll(async () => {
		const { nodes, connections } = chain(modelGateway(), waitForVideo());
		const tools = [asTool(waitForVideo(), 'Video Tool'), asTool(modelGateway(), 'Order Tool')];
		const subNodes = [chatModel(), embeddings(), ...tools];
		await editor.openWorkflow(await stage.create({ connections, nodes: [...nodes, ...subNodes] }));
	});
	afterEach(() => {
		expect(editor.complaints).toEqual([]);
	});

	describe('Model Gateway', () => {
		beforeAll(async () => void (await editor.openNode('Model Gateway')));
		afterAll(async () => await editor.closeNode());

		it.each(operations)(
			'Model Gateway shows the fields of %s: %s',
			async (resource, operation, fields) => {
				await editor.choose('resource', resource);
				await editor.choose('operation', operation);
				expect(await editor.fields()).toEqual(['Resource', 'Operation', ...fields]);
			},
		);

		it('Model Gateway shows one JSON field instead of the media fields when Media Input is JSON', async () => {
			await editor.choose('resource', 'Reference Video');
			await editor.choose('mediaInput', 'JSON');
			expect(await editor.fields()).toEqual([
				'Resource',
				'Operation',
				'Model',
				'Prompt',
				'Media Input',
				'Media (JSON)',
				'Preview (Order Nothing)',
				'Options',
			]);
			await editor.choose('mediaInput', 'Fields Below');
		});

		it('Model Gateway asks for a URL or a binary field, depending on the source of the media', async () => {
			const asked = async () => (await editor.fields()).slice(6, -2);
			expect(await asked()).toEqual(['Type', 'Source', 'URL', 'Voice URL']);
			await editor.choose('source', 'File of an Earlier Node');
			expect(await asked()).toEqual(['Type', 'Source', 'Input Binary Field', 'Voice URL']);
		});

		it('Model Gateway asks for image and mask by URL or binary field, depending on their sources', async () => {
			await editor.choose('resource', 'Image');
			await editor.choose('operation', 'Edit');
			await editor.choose('imageSource', 'URL');
			await editor.choose('maskSource', 'File of an Earlier Node');
			const asked = (await editor.fields()).filter((field) => /^(Image|Mask)/.test(field));
			expect(asked).toEqual(['Image Source', 'Image URL', 'Mask Source', 'Mask Binary Field']);
		});

		it('Model Gateway hides Limit for Return All, and the output field without Download', async () => {
			const turn = async (name: string) =>
				await editor.page.getByTestId(`parameter-input-${name}`).locator('.el-switch').click();
			await turn('download');
			expect(await editor.fields()).not.toContain('Put Output File in Field');
			await editor.choose('resource', 'Model');
			await turn('returnAll');
			expect(await editor.fields()).toEqual([
				'Resource',
				'Operation',
				'Return All',
				'Filter',
				'Simplify',
				'Options',
			]);
			await editor.choose('resource', 'Reference Video');
		});

		it('Model Gateway lists the models of the gateway, suitable ones first', async () => {
			await editor.page.getByTestId('rlc-input').click();
			const entries = editor.page.getByTestId('rlc-item');
			// Until the list arrives, it contains only the chosen model.
			await entries.nth(2).waitFor();
			const names = (await entries.allInnerTexts()).map((text) => text.trim());
			expect(names[0]).toBe('beta-2.7-r2v (Up to 5 images and videos)');
			expect(names).toContain('chat-1 (probably a model of Chat)');
			await entries.first().click();
			await editor.takePicture('panel');
		});
	});

	it.each(['Model Gateway', 'Order Tool'])(
		'%s does not keep the model when another resource is chosen, whose models are others',
		async (name) => {
			await editor.openNode(name);
			const model = async () => await editor.page.getByTestId('rlc-input').inputValue();
			expect(await model()).toBe('beta-2.7-r2v (Up to 5 images and videos)');
			await editor.choose('resource', 'Video');
			await until(async () => !(await model()).includes('beta-2.7-r2v'), 10);
			await editor.closeNode();
		},
	);

	it('Wait for Video shows its fields, and no output field without Download', async () => {
		await editor.openNode('Wait for Video');
		expect(await editor.fields()).toEqual([
			'Job ID',
			'While Waiting',
			'Download',
			'Put Output File in Field',
			'Options',
		]);
		await editor.page.getByTestId('parameter-input-download').locator('.el-switch').click();
		expect(await editor.fields()).toEqual(['Job ID', 'While Waiting', 'Download', 'Options']);
		await editor.closeNode();
	});

	it.each([
		['Chat Model', 'Connect this node to the Chat Model input'],
		['Embeddings', 'Connect this node to the Embedding input'],
	])('%s shows its fields and where to connect it', async (name, notice) => {
		const panel = await editor.openNode(name);
		expect(await editor.fields()).toEqual(['Model', 'Options']);
		await panel.getByText(notice).waitFor();
		await editor.closeNode();
	});
});
