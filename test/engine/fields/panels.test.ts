import { NodeHelpers, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { operations } from '../../../nodes/ModelGateway/resources';
import { nodeTypes } from '../../harness';

// These tests ask n8n's own code what a panel shows. test/e2e/panels.e2e.ts looks at the panels in the editor.

const gatewayNode = 'n8n-nodes-model-gateway.modelGateway';
const waitNode = 'n8n-nodes-model-gateway.modelGatewayWaitForVideo';

function panelOf(type: string, parameters: INodeParameters) {
	const { description } = nodeTypes.getByNameAndVersion(type, 1);
	const { properties } = description;
	const node = { id: '', name: 'Node', type, typeVersion: 1, position: [0, 0], parameters };
	const values =
		NodeHelpers.getNodeParameters(
			properties,
			parameters,
			true,
			false,
			node as never,
			description,
		) ?? {};
	/** @param inner values of the group to which the fields belong */
	const shown = (fields: INodeProperties[], inner: INodeParameters = values) =>
		fields
			.filter(
				(field) =>
					field.type !== 'hidden' &&
					NodeHelpers.displayParameter(inner, field, node as never, description, values),
			)
			.map(({ displayName }) => displayName);
	return { properties, values, shown };
}

const menus = ['Tool Description', 'Description', 'Resource', 'Operation'];

/** The notice at the top of the panel of a tool. */
const isNotice = (name: string) => /^<b>(The agent fills in|Let the agent fill in)/.test(name);

/** The fields of an operation, without the menus. */
const fieldsOf = (resource: string, operation: string, more = {}, type = gatewayNode) => {
	const { properties, shown } = panelOf(type, { resource, operation, ...more });
	return shown(properties).filter((name) => !menus.includes(name));
};

/** The options that the panel offers, with the group of each. */
function optionsOf(type: string, parameters: INodeParameters = {}): string[] {
	const { properties, shown } = panelOf(type, parameters);
	const collections = properties.filter(({ name }) => name === 'options');
	const [collection] = collections.filter((field) => shown([field]).length > 0);
	expect(collection.placeholder).toBe('Add Option');
	const options = collection.options as INodeProperties[];
	const groups = options.filter(({ type }) => type === 'collection');
	return shown(options).flatMap((label) => {
		const group = groups.find(({ displayName }) => displayName === label);
		if (group === undefined) return [label];
		return shown(group.options as INodeProperties[]).map((inner) => `${label}: ${inner}`);
	});
}

it.each([
	['video', 'vid-3.1-fl', 'This model makes a video from frames'],
	['video', 'new-video-1', undefined],
])('says in %s, below the model %s: %s', (resource, id, notice) => {
	const model = { __rl: true, mode: 'list', value: id };
	const [field, below] = fieldsOf(resource, 'create', { model });
	expect(field).toBe('Model');
	expect(below.startsWith('This model ') ? below : undefined).toEqual(
		notice && expect.stringContaining(notice),
	);
});

describe('the panel of a tool', () => {
	const tool = (type: string) => `${type}Tool`;

	it('hides the fields about files and previews in a tool', () => {
		for (const operation of ['generate', 'edit', 'chat']) {
			const hidden = fieldsOf('image', operation).filter(
				(name) => !fieldsOf('image', operation, {}, tool(gatewayNode)).includes(name),
			);
			const files = ['Download', 'Put Output File in Field'];
			expect(hidden).toEqual([...files, 'Preview (Order Nothing)']);
		}
		expect(fieldsOf('video', 'getContent', {}, tool(gatewayNode))).toEqual(['Job ID', 'Options']);
		const { properties, shown } = panelOf(tool(waitNode), {});
		const names = shown(properties).filter((name) => !isNotice(name));
		expect(names).toEqual(['Description', 'Job ID', 'Options']);
	});

	it('shows a notice about the agent at the top of each paid tool and of Wait for Video', () => {
		const paid = operations.filter(({ endpoint }) => endpoint.cost !== 'read');
		for (const { resource, value } of paid) {
			const [notice] = fieldsOf(resource.value, value, {}, tool(gatewayNode));
			expect(notice).toMatch(
				/^<b>(The agent fills in Prompt|Let the agent fill in).*Each call costs money/,
			);
			expect(fieldsOf(resource.value, value).filter(isNotice)).toEqual([]);
		}
		const { properties, shown } = panelOf(tool(waitNode), {});
		expect(shown(properties).filter(isNotice)).toEqual([
			expect.stringContaining('the agent can call it again'),
		]);
	});

	it('offers only options about money, the request and the wait in a tool', () => {
		expect(optionsOf(tool(gatewayNode), { resource: 'video', operation: 'create' })).toEqual([
			'Order Once: Order Key',
			'Limits: Max Orders',
			'Limits: Max Orders per Day',
			'Limits: Max Cost',
			'Limits: Max Cost per Day',
			'Limits: Count For',
			'Limits: In Each',
			'If No Response Arrives',
			'If the Model Refuses',
			'Request Timeout (Seconds)',
			'Extra Body (JSON)',
		]);
		expect(optionsOf(tool(waitNode))).toEqual(['Timeout (Minutes)', 'Poll Interval (Seconds)']);
	});

	it('offers no files of earlier nodes in a tool', () => {
		const sources = (type: string) => {
			const { properties, shown } = panelOf(type, { resource: 'image', operation: 'edit' });
			const source = properties.find(({ name }) => name === 'imageSource');
			const choices = (source?.options ?? []) as INodeProperties[];
			return choices.filter((choice) => shown([choice]).length > 0).map(({ name }) => name);
		};
		expect(sources(gatewayNode)).toEqual(['File of an Earlier Node', 'URL']);
		expect(sources(tool(gatewayNode))).toEqual(['URL']);
	});
});

it.each([gatewayNode, waitNode])(
	'declares no sensitive output fields, which n8n would hide for good: %s',
	(type) => {
		const { description } = nodeTypes.getByNameAndVersion(type, 1);
		expect(description).not.toHaveProperty('sensitiveOutputFields');
	},
);
