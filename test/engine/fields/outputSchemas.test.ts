import { loadOutputSchema } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { operations } from '../../../nodes/ModelGateway/resources';
import { isObject } from '../../../nodes/shared/service/json';
import { nodeTypes } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { mp4Of } from '../../support/files/boxes';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { png, subjects } from '../../support/workflows/everyNode';
import { chain, modelGateway, type Node, waitForVideo } from '../../support/workflows/workflows';

/** The part of JSON Schema that n8n's editor reads. */
interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
}

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

const schemaFileOf = (resource: unknown, operation: unknown) =>
	path.join('v1.0.0', String(resource), `${String(operation)}.json`);
const schemaFiles = readdirSync(path.join(folderOf('ModelGateway'), '__schema__'), {
	recursive: true,
	encoding: 'utf8',
}).filter((file) => file.endsWith('.json'));

/** The operations with a schema. The editor works without one, too. */
const withSchema = subjects.filter(
	([
		,
		{
			type,
			parameters: { resource, operation },
		},
	]) => type === 'modelGateway' && schemaFiles.includes(schemaFileOf(resource, operation)),
);

describe('output schemas', () => {
	const { gateway, runWorkflow } = withGateway({ jobSeconds: Infinity });
	/** By resource: the item of a job that is complete. */
	let jobs: Record<string, IDataObject>;

	beforeEach(async () => {
		const video = mp4Of(1_000);
		jobs = {
			referenceVideo: { task_id: earlierJob(gateway, 'task', video).id, request_id: 'req_1' },
			video: { id: earlierJob(gateway, 'video', video).id, request_id: 'req_2' },
		};
	});

	const run = async (node: Node, input: IDataObject[]) => {
		const binary = { data: { mimeType: 'image/png', fileName: 'photo.png', data: png } };
		const result = await runWorkflow(chain(node), {
			input: input.map((json) => ({ json, binary })),
		});
		return result.items(node.name).map(({ json }) => json);
	};

	it('has output schemas only for operations that exist', () => {
		const known = operations.map(({ resource, value }) => schemaFileOf(resource.value, value));
		expect(known).toEqual(expect.arrayContaining(schemaFiles));
	});

	it.each(withSchema)('describes only output fields that %s returns', async (_, { parameters }) => {
		const { resource, operation } = parameters as Record<string, string>;
		const job = jobs[resource] ?? {};
		const items = await run(modelGateway(parameters as IDataObject), [job, job]);
		expect(mismatchesOf(schemaOf('ModelGateway', { resource, operation }), items)).toEqual([]);
	});

	it('describes only output fields that Wait for Video returns for a task or a video job', async () => {
		const items = await run(waitForVideo(), Object.values(jobs));
		expect(mismatchesOf(schemaOf('ModelGatewayWaitForVideo'), items)).toEqual([]);
	});
});
