import { type IDataObject, type INode, NodeHelpers } from 'n8n-workflow';
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { examplesFolder, readExample, settingsOf, withSettings } from '../demo/example';
import { startGateway, type Gateway } from '../gateway';
import { nodeTypes, runWorkflow } from '../harness';
import { readMp4, type Mp4Facts } from '../support/mp4';
import { picture } from './support/samples';
import { credentialFor } from './support/workflows';

const { getNodeParameters, getNodeParametersIssues } = NodeHelpers;
const files = readdirSync(examplesFolder).filter((file) => file.endsWith('.json'));

describe.each(files)('%s', (file) => {
	const example = readExample(file);
	const nodes = example.nodes as INode[];
	const descriptionOf = ({ type, typeVersion }: INode) =>
		nodeTypes.getByNameAndVersion(type, typeVersion).description;

	it.each(nodes)('has a node "$name" whose type and parameters n8n knows', (node) => {
		const description = descriptionOf(node);
		expect([description.version].flat()).toContain(node.typeVersion);

		// What n8n keeps of a node when it opens a workflow: unknown and hidden parameters are dropped.
		const { properties } = description;
		const kept = getNodeParameters(properties, node.parameters, true, false, node, description);
		expect(kept).toMatchObject(node.parameters);
		const opened = { ...node, parameters: kept ?? {} };
		expect(getNodeParametersIssues(properties, opened, description)).toBeNull();
	});

	it('connects outputs that exist with nodes that exist', () => {
		const names = nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		for (const [name, { main }] of Object.entries(example.connections ?? {})) {
			const node = nodes.find((candidate) => candidate.name === name) as INode;
			const errorOutputs = node.onError === 'continueErrorOutput' ? 1 : 0;
			expect(main).toHaveLength(descriptionOf(node).outputs.length + errorOutputs);
			for (const target of main.flat()) expect(names).toContain(target?.node);
		}
	});

	it('carries no secret, and nothing of the n8n it was made with', () => {
		expect(example).toEqual({
			...{ name: expect.any(String), nodes, connections: expect.any(Object) },
			...{ active: false, settings: { executionOrder: 'v1' }, pinData: {}, meta: {}, tags: [] },
		});
		for (const node of nodes) {
			expect(node).not.toHaveProperty('credentials');
			expect(node).not.toHaveProperty('webhookId');
			expect(node.id).toMatch(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
		}
		const text = readFileSync(path.join(examplesFolder, file), 'utf8');
		const links = text.match(/\bhttps?:\/\/[^\s"']+/g) ?? [];
		expect(links.filter((link) => !link.startsWith('https://example.com/'))).toEqual([]);
		expect(text).not.toMatch(/bearer |api_?key|\bsk-|localhost|127\.0\.0\.1/i);
	});
});

describe('run as it is, with settings of its user', () => {
	let gateway: Gateway;
	let folder: string;

	beforeEach(async () => {
		gateway = await startGateway({ jobSeconds: 0 });
		folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'examples-')));
	});
	afterEach(async () => {
		await gateway.close();
		rmSync(folder, { recursive: true });
	});

	const link = (colour: string) => gateway.addMedia(`${colour}.png`, picture(colour), 'image/png');

	const run = async (file: string, settings: IDataObject) =>
		await runWorkflow(withSettings(readExample(file), { ...settings, folder }), {
			credentials: credentialFor(gateway),
			filesFolder: folder,
		});

	async function savedVideos(): Promise<Record<string, Mp4Facts>> {
		const saved: Record<string, Mp4Facts> = {};
		for (const name of readdirSync(folder).sort()) {
			saved[name] = await readMp4(readFileSync(path.join(folder, name)));
		}
		return saved;
	}

	const mp4 = (width: number, height: number, seconds = 2) =>
		expect.objectContaining({ width, height, seconds, codec: expect.stringMatching(/^avc1\./) });

	it('reference-video-to-file.json', async () => {
		const settings = { picture_1: link('red'), picture_2: link('blue'), seconds: 2, name: 'walk' };
		const result = await run('reference-video-to-file.json', settings);

		expect(result.status).toBe('success');
		expect(await savedVideos()).toEqual({ 'walk.mp4': mp4(1280, 720) });
		expect(gateway.ledger).toHaveLength(1);
	});

	it('product-videos-from-a-list.json, with two products that fail', async () => {
		const file = 'product-videos-from-a-list.json';
		const products = settingsOf(readExample(file)).products as IDataObject[];
		const refused = { ...products[0], product: 'Refused', prompt: '[blocked]' };
		const broken = { ...products[1], product: 'Broken', prompt: '[fail]' };
		const own = { pictures: [link('green')], seconds: 2 };
		const all = [refused, ...products, broken].map((product) => ({ ...product, ...own }));
		const result = await run(file, { products: all });

		expect(result.status).toBe('success');
		expect(await savedVideos()).toEqual({
			'Desk Lamp.mp4': mp4(1280, 720),
			'Running Shoe.mp4': mp4(720, 720),
			'Travel Mug.mp4': mp4(720, 1280),
		});
		expect(gateway.ledger).toHaveLength(products.length + 1);
		const failed = [0, 1].flatMap((round) => result.items('Failed Products', { run: round }));
		expect(failed.map(({ json }) => json)).toEqual([
			{
				product: 'Broken',
				reason: expect.stringMatching(/^Video task .* failed: the prompt asked the job to fail$/),
				what_to_do: expect.stringContaining('create a new job'),
				job: expect.stringMatching(/^task_/),
			},
			{
				product: 'Refused',
				reason: expect.stringContaining('blocked by content moderation'),
				what_to_do: expect.stringContaining('Change the prompt'),
				job: 'none was created',
			},
		]);
	});

	it('scheduled-daily-video.json, whose first try is refused', async () => {
		const refusal = { status: 403, code: 'permission_denied' };
		gateway.fault({ route: 'videoCreate', action: 'error', ...refusal });
		const result = await run('scheduled-daily-video.json', {});

		expect(result.status).toBe('success');
		const { name, prompt } = result.items('Your Settings')[0].json;
		expect(name).toMatch(/^good-morning-\d{4}-\d\d-\d\d$/);
		expect(prompt).toMatch(/It is \w+day, \d{1,2} \w+: /);
		expect(await savedVideos()).toEqual({ [`${String(name)}.mp4`]: mp4(1280, 720, 5) });
		expect(gateway.requests.filter(({ route }) => route === 'videoCreate')).toHaveLength(2);
		expect(gateway.ledger).toHaveLength(1);
	});
});
