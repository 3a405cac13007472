import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../../../gateway';
import { registerTypes, runWorkflow } from '../../harness';
import { agent } from '../../support/workflows/agent';
import { picture } from '../../support/data/samples';
import {
	asTool,
	byId,
	chain,
	createReferenceVideo,
	createVideo,
	credentialFor,
	modelGateway,
	withSubNodes,
	type Node,
} from '../../support/workflows/workflows';

let gateway: Gateway;
let media: IDataObject[];
beforeAll(async () => {
	registerTypes({ nodes: [agent] });
	gateway = await startGateway({ jobSeconds: Infinity, draw: async () => picture('blue') });
	const url = gateway.addMedia('a.png', picture('red', 32, 24), 'image/png');
	media = [{ type: 'reference_image', url }];
});
afterAll(async () => await gateway.close());

/** Runs one node whose item has `text`, and shows what became of it. */
const run = async (node: Node, text: string) => {
	const before = gateway.requests.length;
	const file = { data: Buffer.from(picture('red')).toString('base64'), mimeType: 'image/png' };
	const result = await runWorkflow(chain(node), {
		credentials: credentialFor(gateway),
		input: [{ json: { text, media }, binary: { data: file } }],
	});
	const hints = result.data.resultData.runData[node.name][0].hints ?? [];
	return {
		message: result.errorOf(node.name)?.message,
		hints: hints.map(({ message }) => message),
		json: result.errorOf(node.name) ? undefined : result.items(node.name)[0].json,
		// The gateway fetches the reference media, perhaps after the response.
		sent: gateway.requests
			.slice(before)
			.filter(({ route }) => route !== 'media')
			.map(({ body }) => body as IDataObject),
	};
};

const text = '={{ $json.text }}';
const image = (operation: string, model: string) => (options: IDataObject) =>
	modelGateway({ resource: 'image', operation, model: byId(model), prompt: text, options });

/** Every operation that orders by a prompt. */
const orders: Array<[string, (options: IDataObject) => Node]> = [
	['Video: Create', (options) => createVideo({ prompt: text, options })],
	['Reference Video: Create', (options) => createReferenceVideo({ prompt: text, options })],
	['Image: Generate', image('generate', 'image-1')],
	['Image: Edit', image('edit', 'image-edit-1')],
	['Image: Chat', image('chat', 'image-chat-1')],
];

/** Every other operation that is charged for a text. */
const texts: Array<[string, string, (options: IDataObject) => Node]> = [
	[
		'Chat: Complete',
		'Message 1: Content',
		(options) =>
			modelGateway({
				...{ resource: 'chat', operation: 'complete', model: byId('chat-1'), options },
				messages: { values: [{ role: 'user', content: text }] },
			}),
	],
	[
		'Message: Create',
		'Message 1: Content',
		(options) =>
			modelGateway({
				...{ resource: 'message', operation: 'create', model: byId('chat-1'), options },
				messages: { values: [{ role: 'user', content: text }] },
			}),
	],
	[
		'Embedding: Create',
		'Input',
		(options) =>
			modelGateway({
				...{ resource: 'embedding', operation: 'create', model: byId('embed-1'), options },
				input: text,
			}),
	],
];

const accident =
	'holds an expression that was not evaluated ({{ $json.p }}): switch the field to Expression';
const cutHint =
	'A text has half a character, such as one that was cut off inside an emoji. It is sent as �.';

describe('accidental text in an order', () => {
	it.each(orders)('is refused before anything is sent: %s', async (_, node) => {
		expect(await run(node({}), 'A boat on {{ $json.p }}')).toMatchObject({
			message: `Prompt ${accident}`,
			sent: [],
		});
		expect((await run(node({}), 'A [object Object]')).message).toBe(
			'Prompt holds [object Object], an object in place of a text: choose one of its fields',
		);
		expect((await run(node({}), 'undefined')).message).toBe(
			'Prompt is only the word undefined: check the expression that it comes from',
		);
	});

	it.each(orders)('is sent with Skip Checks: %s', async (_, node) => {
		const { message, sent } = await run(node({ skipChecks: true }), 'A boat on {{ $json.p }}');
		expect(message).toBeUndefined();
		expect(JSON.stringify(sent)).toContain('A boat on {{ $json.p }}');
	});

	it('gives a hint where it may be meant', async () => {
		const { message, hints, sent } = await run(
			createVideo({ prompt: text }),
			'A boat in undefined',
		);
		expect(message).toBeUndefined();
		expect(sent).toHaveLength(1);
		expect(hints).toEqual([
			'Prompt holds the word undefined: check the expression that it comes from.',
		]);
	});

	it('is shown by Preview, too', async () => {
		const node = createVideo({ prompt: text, preview: true });
		expect((await run(node, '{{ $json.p }}')).json).toMatchObject({
			would: 'fail',
			reason: `Prompt ${accident}`,
		});
		expect((await run(node, 'A {{ name }}')).hints).toContain(
			'Prompt holds {{ name }}, which nothing has filled in.',
		);
	});

	it('is refused in Extra Body, Order Key and Model', async () => {
		const extraBody = '{ "negative_prompt": "no {{ $json.p }}" }';
		const { message, sent } = await run(
			createVideo({ model: byId('{{ $json.p }}'), options: { extraBody, orderKey: 'undefined' } }),
			'',
		);
		expect(message?.split('; ')).toEqual([
			`Extra Body (JSON) ${accident}`,
			`Model ${accident}`,
			'Order Key is only the word undefined: check the expression that it comes from',
		]);
		expect(sent).toEqual([]);
	});

	it('is refused as an Order Key even with Skip Checks', async () => {
		const options = { orderKey: text, skipChecks: true };
		const { message, sent } = await run(createVideo({ options }), 'undefined');
		expect(message).toContain('Order Key is only the word undefined');
		expect(sent).toEqual([]);
	});

	it('is refused in a link of media, and listed once', async () => {
		const link = 'https://example.com/{{$json.p}}.png';
		const problem = accident.replace('{{ $json.p }}', '{{$json.p}}');
		const values = [{ type: 'reference_image', source: 'url', url: '={{ $json.text }}' }];
		const fields = { prompt: 'A boat', mediaInput: 'fields', media: { values } };
		expect((await run(createReferenceVideo(fields), link)).message).toBe(`Media 1: URL ${problem}`);
		const json = { prompt: 'A boat', mediaJson: '={{ [$json.text] }}' };
		expect((await run(createReferenceVideo(json), link)).message).toBe(`Media 1: URL ${problem}`);
		const withSpace = await run(createReferenceVideo(json), 'https://a.example/{{ $json.p }}');
		expect(withSpace.message).toBe(`Media 1: URL ${accident}`);
	});

	it('is refused in the link of an image', async () => {
		const edit = modelGateway({
			...{ resource: 'image', operation: 'edit', model: byId('image-1'), prompt: 'A boat' },
			...{ imageSource: 'url', imageUrl: text },
		});
		expect((await run(edit, 'https://a.example/{{ $json.p }}')).message).toBe(
			`Image URL ${accident}`,
		);
	});

	it('is refused in the tool of an agent, which is told why', async () => {
		const before = gateway.requests.length;
		const tool = asTool(createVideo({ prompt: 'A boat on {{ $json.p }}' }), 'Tool');
		const caller = { name: 'Agent', type: 'test.agent', parameters: { calls: 1 } };
		const result = await runWorkflow(withSubNodes(chain(caller), ['ai_tool', tool]), {
			credentials: credentialFor(gateway),
		});
		expect(result.items('Agent')[0].json.answer).toContain(`Prompt ${accident}`);
		expect(gateway.requests).toHaveLength(before);
	});
});

describe('accidental text in a chat, a message or an embedding', () => {
	it.each(texts)('is refused when the text is nothing else: %s', async (_, field, node) => {
		expect(await run(node({}), '{{ $json.p }}')).toMatchObject({
			message: `${field} ${accident}`,
			sent: [],
		});
		expect((await run(node({}), 'null')).message).toBe(
			`${field} is only the word null: check the expression that it comes from`,
		);
		expect((await run(node({ skipChecks: true }), 'null')).message).toBeUndefined();
	});

	it.each(texts)('is sent with a hint when it may be the subject: %s', async (_, field, node) => {
		const question = 'Why does JavaScript print [object Object]?';
		const { message, hints, sent } = await run(node({}), question);
		expect(message).toBeUndefined();
		expect(JSON.stringify(sent)).toContain(question);
		expect(hints).toEqual([
			`${field} holds [object Object], an object in place of a text: choose one of its fields.`,
		]);
	});

	it.each(texts)(
		'sends the templates of other programs without a hint: %s',
		async (_, __, node) => {
			const { message, hints } = await run(node({}), 'Dear {{ name }}, undefined is a word');
			expect({ message, hints }).toEqual({ hints: [] });
		},
	);

	it('is refused as a text of Content (JSON), and in a part that an expression gives', async () => {
		const message = { resource: 'message', operation: 'create', model: byId('chat-1') };
		const part = '={{ [{ type: "text", text: $json.text }] }}';
		const sending = async (content: IDataObject) =>
			await run(
				modelGateway({ ...message, messages: { values: [{ role: 'user', ...content }] } }),
				'{{ $json.p }}',
			);
		expect((await sending({ contentJson: part })).message).toBe(
			`Message 1: Content (JSON) ${accident}`,
		);
		expect((await sending({ content: part })).message).toBe(`Message 1: Content ${accident}`);
	});

	it('lets the messages of models and tools be any text', async () => {
		const values = [
			{ role: 'user', content: 'Ask the tool' },
			{ role: 'tool', content: 'null', toolCallId: '1' },
			{ role: 'assistant', content: '[object Object]' },
			{ role: 'user', content: 'And now?' },
		];
		const chat = { resource: 'chat', operation: 'complete', model: byId('chat-1') };
		const { message, hints } = await run(modelGateway({ ...chat, messages: { values } }), '');
		expect(message).toBeUndefined();
		expect(hints).toEqual([
			'Message 3: Content holds [object Object], an object in place of a text: choose one of its fields.',
		]);
	});

	it('gives one hint for a list of texts', async () => {
		const embed = modelGateway({
			...{ resource: 'embedding', operation: 'create', model: byId('embed-1') },
			input: '={{ ["About [object Object]", "fine", "Also [object Object]"] }}',
		});
		const { message, hints } = await run(embed, '');
		expect(message).toBeUndefined();
		expect(hints).toHaveLength(1);
	});
});

describe('half a character', () => {
	const cut = 'A boat \ud83d';

	it.each<[string, (options: IDataObject) => Node]>([
		...orders,
		...texts.map(([name, , node]): [string, (options: IDataObject) => Node] => [name, node]),
	])('is sent as U+FFFD, with a hint: %s', async (_, node) => {
		const { message, hints, sent } = await run(node({}), cut);
		expect(message).toBeUndefined();
		expect(JSON.stringify(sent)).toContain('A boat \ufffd');
		expect(JSON.stringify(sent)).not.toContain('\\ud83d');
		expect(hints).toEqual([cutHint]);
	});

	it.each(orders)('is sent as U+FFFD in Extra Body, with a hint: %s', async (_, node) => {
		const extraBody = '={{ { new_field: { name: "\\ud83d" }, tag: "\\ude00" } }}';
		const { message, hints, sent } = await run(node({ extraBody }), 'A boat');
		expect(message).toBeUndefined();
		const field = { name: '\ufffd' };
		const [{ new_field: sentField, tag }] = sent;
		expect([field, JSON.stringify(field)]).toContainEqual(sentField);
		expect(tag).toBe('\ufffd');
		expect(hints).toEqual([cutHint]);
	});

	it('is shown as U+FFFD by Preview, with a hint', async () => {
		const { json, hints } = await run(createVideo({ prompt: text, preview: true }), cut);
		expect(json).toMatchObject({ request: { body: { prompt: 'A boat \ufffd' } } });
		expect(hints).toContain(cutHint);
	});
});
