import { NodeHelpers, Workflow, type INodeParameters, type INodeProperties } from 'n8n-workflow';
import { operations } from '../../../nodes/ModelGateway/resources';
import { nodeTypes } from '../../harness';

// These tests ask n8n's own code what a panel shows. test/e2e/panels.e2e.ts looks at the panels in the editor.

const gatewayNode = 'n8n-nodes-model-gateway.modelGateway';
const waitNode = 'n8n-nodes-model-gateway.modelGatewayWaitForVideo';
const chatModel = 'n8n-nodes-model-gateway.lmChatModelGateway';
const embeddings = 'n8n-nodes-model-gateway.embeddingsModelGateway';

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
const isNotice = (name: string) => name.startsWith('<b>Let the agent fill in');

/** The fields of an operation, without the menus. */
const fieldsOf = (resource: string, operation: string, more = {}, type = gatewayNode) => {
	const { properties, shown } = panelOf(type, { resource, operation, ...more });
	return shown(properties).filter((name) => !menus.includes(name));
};

/** The options that the panel offers. */
function optionsOf(type: string, parameters: INodeParameters = {}): string[] {
	const { properties, shown } = panelOf(type, parameters);
	const collections = properties.filter(({ name }) => name === 'options');
	const [collection] = collections.filter((field) => shown([field]).length > 0);
	expect(collection.placeholder).toBe('Add Option');
	return shown(collection.options as INodeProperties[]);
}

/** The fields of one entry in a list. */
function entryOf(resource: string, operation: string, list: string, entry: INodeParameters = {}) {
	const { properties, shown } = panelOf(gatewayNode, { resource, operation });
	const [field] = properties.filter((each) => each.name === list && shown([each]).length > 0);
	const [{ values }] = field.options as Array<{ values: INodeProperties[] }>;
	const defaults = Object.fromEntries(values.map((each) => [each.name, each.default]));
	return shown(values, { ...defaults, ...entry } as INodeParameters);
}

describe('fields of a panel', () => {
	it.each([
		['chat', 'complete', ['Model', 'Messages', 'Simplify', 'Options']],
		['message', 'create', ['Model', 'Messages', 'Max Tokens', 'Simplify', 'Options']],
		[
			'referenceVideo',
			'create',
			['Model', 'Prompt', 'Media Input', 'Media', 'Preview (Order Nothing)', 'Options'],
		],
	])(
		'shows the fields in the order in which a user fills them in: %s: %s',
		(resource, operation, expected) => {
			expect(fieldsOf(resource, operation)).toEqual(expected);
		},
	);

	it('shows the role as the first field of a message', () => {
		expect(entryOf('chat', 'complete', 'messages')).toEqual(['Role', 'Content', 'Images']);
		expect(entryOf('message', 'create', 'messages')).toEqual(['Role', 'Content', 'Content (JSON)']);
		expect(entryOf('image', 'chat', 'earlierMessages')).toEqual(['Role', 'Content', 'Images']);
		expect(entryOf('image', 'chat', 'images')).toEqual(['Source', 'URL']);
	});

	it('shows Voice URL only for media that can have a voice', () => {
		const of = (type: string) => entryOf('referenceVideo', 'create', 'media', { type });
		expect(of('reference_image')).toEqual(['Type', 'Source', 'URL', 'Voice URL']);
		expect(of('reference_video')).toEqual(['Type', 'Source', 'URL', 'Voice URL']);
		expect(of('={{ $json.type }}')).toEqual(['Type', 'Source', 'URL', 'Voice URL']);
		expect(of('first_frame')).toEqual(['Type', 'Source', 'URL']);
	});

	it('presets resolution and aspect ratio of a reference video as the default model does', () => {
		const { properties } = panelOf(gatewayNode, {
			...{ resource: 'referenceVideo', operation: 'create' },
		});
		const all = properties.find(({ name }) => name === 'options')?.options as INodeProperties[];
		const defaults = all.slice(0, 2).map((option) => option.default);
		expect(defaults).toEqual(['1080P', '16:9']);
	});

	it('groups the options: what to make, how to send it, what limits the bill, and last the rare ones', () => {
		const make = ['Resolution', 'Aspect Ratio', 'Duration (Seconds)'];
		const send = ['Include Input Fields', 'Parallel Requests', 'Request Timeout (Seconds)'];
		const limit = [
			...['Order Key', 'If Ordered Before', 'Max Orders per Execution', 'Max Orders per Day'],
			...['Max Cost per Execution', 'Max Cost per Day'],
		];
		const rare = ['Extra Body (JSON)', 'Skip Checks'];
		const options = optionsOf(gatewayNode, { resource: 'referenceVideo', operation: 'create' });
		expect(options).toEqual([
			...[...make, 'Improve Prompt', 'Watermark', 'Seed', ...send],
			...[...limit, 'If No Response Arrives', 'Release Order Key', ...rare],
		]);
		const imageOptions = optionsOf(gatewayNode, { resource: 'image', operation: 'generate' });
		const ofImage = [...limit, 'If No Response Arrives', 'Release Order Key'];
		const limits = [...send, ...ofImage, ...rare];
		expect(imageOptions.slice(-limits.length)).toEqual(limits);
		const chatOptions = optionsOf(gatewayNode, { resource: 'chat', operation: 'complete' });
		expect(chatOptions.slice(-5)).toEqual([...send, ...rare]);
		const getOptions = optionsOf(gatewayNode, { resource: 'video', operation: 'get' });
		expect(getOptions).toEqual(send);
		expect(optionsOf(waitNode)).toEqual([
			...['File Name', 'Timeout (Minutes)', 'Poll Interval (Seconds)', 'Max Parallel Downloads'],
			'Include Input Fields',
		]);
		for (const type of [chatModel, embeddings]) {
			expect(optionsOf(type)).toContain('Request Timeout (Seconds)');
		}
	});
});

describe('lists', () => {
	const lists = [
		...['messages', 'images', 'media'].flatMap((name) =>
			panelOf(gatewayNode, {}).properties.filter((field) => field.name === name),
		),
	];

	it.each(lists)(
		'names the entry on the button of a list, and numbers the entries: $displayName',
		(list) => {
			const [{ displayName: entry }] = list.options as INodeProperties[];
			expect(list.placeholder).toBe(`Add ${entry}`);
			const title = list.typeOptions?.fixedCollection?.itemTitle;
			expect(title).toBe(`=${entry} {{ $collection.item.index + 1 }}`);
		},
	);

	it('explains in the hint of Prompt how reference images are counted', () => {
		const shown = panelOf(gatewayNode, { resource: 'referenceVideo', operation: 'create' });
		const prompt = shown.properties.find(({ hint }) => hint?.includes('first reference image'));
		expect(prompt?.name).toBe('prompt');
	});

	it.each(lists.filter(({ name }) => name !== 'images'))(
		'starts a list with one entry: $displayName',
		(list) => {
			expect(list.default).toMatchObject({ values: [expect.anything()] });
		},
	);
});

describe('menus', () => {
	it.each(operations)(
		'shows the operation and the resource below the node: $name $resource.name',
		async (operation) => {
			const { resource, name, value } = operation;
			const parameters = { resource: resource.value, operation: value };
			const node = { id: '', name: 'Node', type: gatewayNode, typeVersion: 1, parameters };
			const workflow = new Workflow({
				nodes: [{ ...node, position: [0, 0] }],
				connections: {},
				active: false,
				nodeTypes,
			});
			const { subtitle = '' } = nodeTypes.getByNameAndVersion(gatewayNode, 1).description;
			const read = async () =>
				workflow.expression.getSimpleParameterValue(
					workflow.nodes.Node,
					subtitle,
					'internal',
					{},
					undefined,
					'',
				);
			expect(await workflow.expression.withIsolate(read)).toBe(`${name}: ${resource.name}`);
		},
	);

	it('names input and output in the actions, which are all different', () => {
		const actions = operations.map(({ action }) => action);
		expect(actions).toEqual(
			expect.arrayContaining([
				'Create a video from images',
				'Create a video from text',
				'Get the status of a video',
			]),
		);
		expect(new Set(actions).size).toBe(actions.length);
	});
});

describe('the panel of a tool', () => {
	const tool = (type: string) => `${type}Tool`;

	it('hides the fields about files and previews in a tool', () => {
		for (const operation of ['generate', 'edit', 'chat']) {
			const hidden = fieldsOf('image', operation).filter(
				(name) => !fieldsOf('image', operation, {}, tool(gatewayNode)).includes(name),
			);
			expect(hidden).toEqual([
				...['Download', 'Put Output File in Field', 'Preview (Order Nothing)'],
			]);
		}
		expect(fieldsOf('video', 'getContent', {}, tool(gatewayNode))).toEqual(['Video ID', 'Options']);
		const { properties, shown } = panelOf(tool(waitNode), {});
		const names = shown(properties).filter((name) => !isNotice(name));
		expect(names).toEqual(['Description', 'Job ID', 'Options']);
	});

	it('shows a notice about the agent at the top of each paid tool and of Wait for Video', () => {
		const paid = operations.filter(({ endpoint }) => endpoint.cost !== 'read');
		for (const { resource, value } of paid) {
			const [notice] = fieldsOf(resource.value, value, {}, tool(gatewayNode));
			expect(notice).toMatch(/^<b>Let the agent fill in<.b>.*Each call costs money/);
			expect(fieldsOf(resource.value, value).filter(isNotice)).toEqual([]);
		}
		const { properties, shown } = panelOf(tool(waitNode), {});
		expect(shown(properties).filter(isNotice)).toEqual([
			expect.stringContaining('the agent can call it again'),
		]);
	});

	it('offers only options about money, the request and the wait in a tool', () => {
		expect(optionsOf(tool(gatewayNode), { resource: 'video', operation: 'create' })).toEqual([
			...['Request Timeout (Seconds)', 'Order Key'],
			...['Max Orders per Execution', 'Max Orders per Day'],
			...['Max Cost per Execution', 'Max Cost per Day'],
			...['If No Response Arrives', 'Extra Body (JSON)'],
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

	it('offers no options about several items in a tool', () => {
		const image = { resource: 'image', operation: 'generate' };
		expect(optionsOf(gatewayNode, image)).toContain('Parallel Requests');
		expect(optionsOf(tool(gatewayNode), image)).not.toContain('Parallel Requests');
		expect(optionsOf(waitNode)).toContain('Max Parallel Downloads');
		expect(optionsOf(tool(waitNode))).not.toContain('Max Parallel Downloads');
	});
});

describe('node descriptions', () => {
	it.each([
		[chatModel, ['ai_agent', 'ai_chain']],
		[embeddings, ['ai_vectorStore']],
	])(
		"says in the style of n8n's own hints where to connect a sub-node: %s",
		(type, connections) => {
			const [notice] = panelOf(type, {}).properties;
			expect(notice).toMatchObject({
				type: 'notice',
				typeOptions: { containerClass: 'ndv-connection-hint-notice' },
			});
			for (const connection of connections) {
				expect(notice.displayName).toContain(`connectiontype='${connection}'`);
			}
		},
	);

	it.each([
		[gatewayNode, waitNode],
		[waitNode, gatewayNode],
	])("names the related node to n8n's assistants: %s", (type, other) => {
		const { builderHint } = nodeTypes.getByNameAndVersion(type, 1).description;
		expect(builderHint?.searchHint).toContain('directly behind');
		expect(builderHint?.relatedNodes).toMatchObject([{ nodeType: other }]);
	});

	it.each([
		[gatewayNode, 'model'],
		[gatewayNode, 'taskId'],
		[chatModel, 'model'],
		[waitNode, 'jobId'],
	])("tells n8n's assistants where an ID comes from: %s, %s", (type, name) => {
		const fields = panelOf(type, {}).properties.filter((field) => field.name === name);
		for (const { builderHint } of fields) expect(builderHint?.propertyHint).toMatch(/\bIDs?\b/);
		expect(fields).not.toEqual([]);
	});

	it.each([gatewayNode, waitNode])(
		'declares no sensitive output fields, which n8n would hide for good: %s',
		(type) => {
			const { description } = nodeTypes.getByNameAndVersion(type, 1);
			expect(description).not.toHaveProperty('sensitiveOutputFields');
		},
	);
});
