import { loadOutputSchema } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { operations } from '../../../nodes/ModelGateway/resources';
import { isObject, textAt } from '../../../nodes/shared/gateway/json';
import { startGateway, type Gateway } from '../../../gateway';
import { nodeTypes, runWorkflow } from '../../harness';
import { picture, sampleVideo } from '../../support/data/samples';
import {
	byId,
	chain,
	credentialFor,
	modelGateway,
	type Node,
	waitForVideo,
} from '../../support/workflows/workflows';

/** The part of JSON Schema that n8n's editor reads. */
interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
}

const models: Record<string, string> = {
	'referenceVideo.create': 'beta-2.7-r2v',
	'video.create': 'vid-3.1',
	'image.generate': 'image-1',
	'image.edit': 'image-edit-1',
	'image.chat': 'image-chat-1',
	'chat.complete': 'chat-1',
	'message.create': 'chat-1',
	'embedding.create': 'embed-1',
};

const folderOf = (node: string) => path.join(__dirname, '../../../nodes', node);

/** Loads a schema as n8n's server does for the editor. */
function schemaOf(node: string, menus: { resource?: string; operation?: string } = {}): Schema {
	const type = `n8n-nodes-model-gateway.${node[0].toLowerCase()}${node.slice(1)}`;
	const version = Number(nodeTypes.getByNameAndVersion(type).description.version);
	const schema = loadOutputSchema({ nodeDir: folderOf(node), version, ...menus });
	if (!schema) throw new Error(`n8n finds no output schema of ${node} ${JSON.stringify(menus)}`);
	// n8n types it as any JSON.
	return schema as unknown as Schema;
}

/** Fields of the schema that no value has, or that have another type in some value. */
function mismatchesOf(schema: Schema, values: unknown[], place = 'json'): string[] {
	if (!values.every((value) => typesOf(value).includes(schema.type))) {
		return [`${place} is not always of the type ${schema.type}`];
	}
	const inner = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
		const holders = values.filter(isObject).filter((value) => Object.hasOwn(value, name));
		if (holders.length === 0) return [`${place}.${name} is in no value`];
		const inside = holders.map((value) => value[name]);
		return mismatchesOf(property, inside, `${place}.${name}`);
	});
	const entries = schema.items ? mismatchesOf(schema.items, values.flat(), `${place}[]`) : [];
	return [...inner, ...entries];
}

function typesOf(value: unknown): string[] {
	if (Array.isArray(value)) return ['array'];
	return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

const schemaFileOf = (resource: string, operation: string) =>
	path.join('v1.0.0', resource, `${operation}.json`);

/** The operations with a schema. The editor works without one, too. */
const withSchema = operations
	.map(({ resource, value }) => [resource.value, value])
	.filter(([resource, operation]) =>
		existsSync(
			path.join(folderOf('ModelGateway'), '__schema__', schemaFileOf(resource, operation)),
		),
	);

describe('output schemas', () => {
	let gateway: Gateway;
	let media: IDataObject;
	/** By resource: the item of a create whose job is complete. */
	const jobs: Record<string, IDataObject> = {};

	const run = async (node: Node, input: IDataObject[]) => {
		const data = Buffer.from(picture('red')).toString('base64');
		const binary = { data: { mimeType: 'image/png', fileName: 'photo.png', data } };
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: input.map((json) => ({ json, binary })),
		});
		return result.items(node.name).map(({ json }) => json);
	};
	/** Runs an operation for two items, with defaults where no value is required. */
	const runOperation = async (resource: string, operation: string) => {
		const values = { prompt: 'A boat', input: 'A boat', media };
		const messages = { values: [{ role: 'user', content: 'Hello' }] };
		const model = byId(models[`${resource}.${operation}`] ?? '');
		const node = modelGateway({ resource, operation, model, messages, ...values });
		return await run(node, [jobs[resource] ?? {}, jobs[resource] ?? {}]);
	};

	beforeAll(async () => {
		gateway = await startGateway({ jobSeconds: Infinity });
		const url = gateway.addMedia('red.png', picture('red'), 'image/png');
		media = { values: [{ url }] };
		for (const resource of ['referenceVideo', 'video']) {
			[jobs[resource]] = await runOperation(resource, 'create');
			const id = textAt(jobs[resource], 'output.task_id', 'id') ?? '';
			gateway.jobs.complete(id, await sampleVideo());
		}
	});
	afterAll(async () => await gateway.close());

	it('has output schemas only for operations that exist', () => {
		const files = readdirSync(path.join(folderOf('ModelGateway'), '__schema__'), {
			recursive: true,
			encoding: 'utf8',
		});
		const known = operations.map(({ resource, value }) => schemaFileOf(resource.value, value));
		expect(known).toEqual(
			expect.arrayContaining(files.filter((file) => file.endsWith('.json')).sort()),
		);
	});

	it.each(withSchema)(
		'describes only output fields that %s %s returns',
		async (resource, operation) => {
			const schema = schemaOf('ModelGateway', { resource, operation });
			const items = await runOperation(resource, operation);
			expect(mismatchesOf(schema, items)).toEqual([]);
		},
	);

	it('describes only output fields that Wait for Video returns for a task or a video job', async () => {
		const items = await run(waitForVideo(), [jobs.referenceVideo, jobs.video]);
		expect(mismatchesOf(schemaOf('ModelGatewayWaitForVideo'), items)).toEqual([]);
	});
});
