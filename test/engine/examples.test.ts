import { NodeHelpers, Workflow, type IDataObject, type INode } from 'n8n-workflow';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import {
	examplesFolder,
	listedCost,
	readExample,
	secondRunOf,
	settingsOf,
} from '../support/workflows/examples';
import { isKnownPackage, nodeTypes } from '../harness';

const { getNodeOutputs, getNodeParameters, getNodeParametersIssues } = NodeHelpers;
const files = readdirSync(examplesFolder).filter((file) => file.endsWith('.json'));

describe.each(files)('%s', (file) => {
	const example = readExample(file);
	const nodes = example.nodes as INode[];
	// The harness has no AI nodes of n8n. Tests in test/e2e run the examples with such nodes.
	const known = nodes.filter(({ type }) => isKnownPackage(type));
	const descriptionOf = ({ type, typeVersion }: INode) =>
		nodeTypes.getByNameAndVersion(type, typeVersion).description;

	it.each(known)('has only known parameters in its node "$name"', (node) => {
		const description = descriptionOf(node);
		expect([description.version].flat()).toContain(node.typeVersion);

		// n8n drops unknown and hidden parameters when it opens a workflow.
		const { properties } = description;
		const kept = getNodeParameters(properties, node.parameters, true, false, node, description);
		expect(kept).toMatchObject(node.parameters);
		const opened = { ...node, parameters: kept ?? {} };
		expect(getNodeParametersIssues(properties, opened, description)).toBeNull();
	});

	it('uses only nodes of n8n and of this package', () => {
		const packages = ['n8n-nodes-base', '@n8n/n8n-nodes-langchain', 'n8n-nodes-model-gateway'];
		const others = nodes.filter(({ type }) => !packages.includes(type.replace(/\.[^.]*$/, '')));
		expect(others).toEqual([]);
	});

	it('connects only outputs and nodes that exist', () => {
		const names = nodes.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
		const connections = example.connections ?? {};
		const workflow = new Workflow({ nodes: known, connections, active: false, nodeTypes });
		for (const [name, targets] of Object.entries(connections)) {
			expect(names).toContain(name);
			for (const target of Object.values(targets).flat(2)) expect(names).toContain(target?.node);
			const node = workflow.getNode(name);
			if (node === null) continue;
			const outputs = getNodeOutputs(workflow, node, descriptionOf(node));
			const types = outputs.map((output) => (typeof output === 'string' ? output : output.type));
			for (const [type, lines] of Object.entries(targets)) {
				expect(lines).toHaveLength(types.filter((own) => own === type).length);
			}
		}
	});

	it('saves the execution progress if it waits for videos', () => {
		const waits = nodes.some(({ type }) => /modelGatewayWaitForVideo/.test(type));
		expect(example.settings).toEqual({
			executionOrder: 'v1',
			...(waits && { saveExecutionProgress: true }),
		});
	});

	it('writes each file under a name that no other run gives, in a folder that is set where it is written', () => {
		/** The ID of a job, the time, or the number of a take, which is ordered once. */
		const isUnique =
			/\bjson\.(id|job|job_id|output\.task_id|take)\b|\$now\.toFormat\('yyyy-MM-dd-HHmmss/;
		for (const { parameters } of nodes.filter((node) => node.parameters.operation === 'write')) {
			const file = String(parameters.fileName);
			expect(file).toMatch(/^=\/home\/node\/\.n8n-files\//);
			expect(file).toMatch(new RegExp(`${isUnique.source}|\\$binary\\.data\\.fileName`));
		}
		for (const { type, parameters } of nodes) {
			const { fileName } = (parameters.options ?? {}) as IDataObject;
			// Without a name, it is the ID of the job.
			if (/modelGatewayWaitForVideo/.test(type)) expect(fileName ?? 'json.id').toMatch(isUnique);
		}
	});

	const orders = nodes.filter(
		({ type, parameters: { resource } }) =>
			/\.modelGateway(Tool)?$/.test(type) && /video|image/i.test(String(resource)),
	);

	it('says what another run orders, and orders a repeated list once or says why not', () => {
		const said = secondRunOf(example);
		if (orders.length === 0) return expect(said).toBeUndefined();
		const keys = orders.filter(({ parameters }) => {
			const { once } = (parameters.options ?? {}) as { once?: IDataObject };
			return once?.orderKey;
		});
		expect(said).toBe(keys.length > 0 ? 'nothing' : 'everything');
	});

	it('limits the orders of a day where no person presses a button for each', () => {
		const isStartedAlone = nodes.some(({ type }) =>
			/\.(schedule|form|mcp|telegram)Trigger$|\.webhook$/.test(type),
		);
		for (const { name, type, parameters } of orders) {
			if (!isStartedAlone && !type.endsWith('Tool')) continue;
			const { limits } = (parameters.options ?? {}) as { limits?: IDataObject };
			expect([name, limits?.maxOrdersPerDay]).toEqual([name, expect.any(Number)]);
		}
	});

	it('contains no secret, and nothing of the n8n where it was made', () => {
		expect(example).toEqual({
			name: expect.any(String),
			nodes,
			connections: expect.any(Object),
			active: false,
			settings: expect.any(Object),
			pinData: {},
			meta: {},
			tags: [],
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

it.each(['one-execution-per-video.json', 'scheduled-list-with-approval.json'])(
	'%s costs one video for each line, as the list of examples says',
	(file) => {
		const { videos } = settingsOf(readExample(file)) as { videos: unknown[] };
		expect(listedCost(file)).toBe(`${videos.length} videos`);
	},
);
