import type { IDataObject } from 'n8n-workflow';
import { withGateway } from '../../support/http/withGateway';
import { picture } from '../../support/data/samples';
import {
	generations,
	itemsWith,
	jobCreates,
	type ItemOperation,
} from '../../support/workflows/itemOperations';
import {
	byId,
	chain,
	createReferenceVideo,
	createVideo,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';

const { gateway, media, runWorkflow } = withGateway({
	jobSeconds: Infinity,
	draw: async () => picture('blue'),
});

/** Runs one node whose item has `text`, and shows what became of it. */
const run = async (node: Node, text: string) => {
	const before = gateway.requests.length;
	const result = await runWorkflow(chain(node), {
		input: itemsWith([text], { media }),
		mode: 'trigger',
		startNode: 'Start',
	});
	return {
		message: result.errorOf(node.name)?.message,
		hints: result.hintsOf(node.name),
		// The gateway fetches the reference media, perhaps after the response.
		sent: gateway.requests
			.slice(before)
			.filter(({ route }) => route !== 'media')
			.map(({ body }) => body as IDataObject),
	};
};

const text = '={{ $json.text }}';
const withOptions = ({ parameters }: ItemOperation, more: IDataObject = {}) =>
	modelGateway({ ...parameters, options: { ...(parameters.options as IDataObject), ...more } });

/** Every operation that is charged for a text, and the field of the text. */
const all = [...jobCreates, ...generations].map((operation) => {
	const [field] = ['prompt', 'input'].filter((name) => name in operation.parameters);
	const labels: Record<string, string> = { prompt: 'Prompt', input: 'Input' };
	return { operation, name: operation.name, field: labels[field] ?? 'Message 1: Content' };
});

const accident =
	'holds an expression that was not evaluated ({{ $json.p }}): switch the field to Expression';
const cutHint =
	'A text has half a character, such as one that was cut off inside an emoji. It is sent as �.';

describe('accidental text', () => {
	it.each(all)(
		'is refused before anything is sent, unless checks are skipped: $name',
		async ({ operation, field }) => {
			const given = field === 'Prompt' ? 'A boat on {{ $json.p }}' : '{{ $json.p }}';
			expect(await run(withOptions(operation), given)).toMatchObject({
				message: `${field} ${accident}`,
				sent: [],
			});
			const skipped = await run(withOptions(operation, { skipChecks: true }), given);
			expect(skipped.message).toBeUndefined();
		},
	);

	it('is refused in Extra Body, Order Key and Model', async () => {
		const extraBody = '{ "negative_prompt": "no {{ $json.p }}" }';
		const { message, sent } = await run(
			createVideo({
				model: byId('{{ $json.p }}'),
				options: { extraBody, once: { orderKey: 'undefined' } },
			}),
			'',
		);
		expect(message?.split('; ')).toEqual([
			`Extra Body (JSON) ${accident}`,
			`Model ${accident}`,
			'Order Key is only undefined: check the expression that it comes from',
		]);
		expect(sent).toEqual([]);
	});

	it('is refused as an Order Key even with Skip Checks', async () => {
		const options = { once: { orderKey: text }, skipChecks: true };
		const { message, sent } = await run(createVideo({ options }), 'undefined');
		expect(message).toContain('Order Key is only undefined');
		expect(sent).toEqual([]);
	});

	it('is refused in a link of media, and listed once', async () => {
		const link = 'https://firm.example/{{$json.p}}.png';
		const problem = accident.replace('{{ $json.p }}', '{{$json.p}}');
		const values = [{ type: 'reference_image', source: 'url', url: '={{ $json.text }}' }];
		const fields = { prompt: 'A boat', mediaInput: 'fields', media: { values } };
		expect((await run(createReferenceVideo(fields), link)).message).toBe(`Media 1: URL ${problem}`);
	});

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
});

describe('an expression with several parts', () => {
	const advice = "correct it, or write {{ $json.txt ?? '' }} where it may be missing";
	const missing = `has nothing for {{ $json.txt }}: ${advice}`;
	const writtenIn = ({ parameters }: ItemOperation, written: string) =>
		modelGateway(JSON.parse(JSON.stringify(parameters).replaceAll(text, () => written)));

	it.each(all)(
		'is refused when a part is undefined, unless checks are skipped: $name',
		async ({ operation, field }) => {
			const written = '=About {{ $json.txt }}, {{ $json.text }}';
			const node = writtenIn(operation, written);
			expect(await run(node, 'at sea')).toMatchObject({ message: `${field} ${missing}`, sent: [] });
			const skipped = { ...(node.parameters as IDataObject), options: { skipChecks: true } };
			expect((await run(modelGateway(skipped), 'at sea')).message).toBeUndefined();
		},
	);

	it.each(all)('is sent when its parts are empty or null: $name', async ({ operation }) => {
		const written = "=A boat{{ $json.txt ?? '' }}{{ null }}{{ '' }}{{ 0 }}{{ false }}";
		const { message, sent } = await run(writtenIn(operation, written), '');
		expect(message).toBeUndefined();
		expect(JSON.stringify(sent)).toContain('A boat0false');
	});

	it('is refused in each field, also in lists, options and keys', async () => {
		const values = [
			{ type: 'reference_image', source: 'url', url: '=https://x.example/{{ $json.a }}.png' },
		];
		const options = {
			extraBody: '={ "negative_prompt": "no {{ $json.b }}" }',
			once: { orderKey: '={{ $json.c }}-{{ $now.year }}' },
		};
		const fields = { prompt: 'A boat', mediaInput: 'fields', media: { values }, options };
		const { message, sent } = await run(createReferenceVideo(fields), '');
		const problemIn = (part: string) => missing.replaceAll('$json.txt', part);
		expect(message?.split('; ')).toEqual([
			`Extra Body (JSON) ${problemIn('$json.b')}`,
			`Media 1: URL ${problemIn('$json.a')}`,
			`Order Key ${problemIn('$json.c')}`,
		]);
		expect(sent).toEqual([]);
	});

	it.each(['#N/A', ' undefined '])('is refused in an order when a cell is %j', async (cell) => {
		const prompt = '=A video of {{ $json.text }} at sea';
		const { message, sent } = await run(createVideo({ prompt }), cell);
		expect(message).toBe(
			`Prompt has ${cell.trim()} for {{ $json.text }}: check where it comes from`,
		);
		expect(sent).toEqual([]);
	});
});

describe('half a character', () => {
	const cut = 'A boat \ud83d';

	it.each(all)('is sent as U+FFFD, with a hint: $name', async ({ operation }) => {
		const { message, hints, sent } = await run(withOptions(operation), cut);
		expect(message).toBeUndefined();
		expect(JSON.stringify(sent)).toContain('A boat \ufffd');
		expect(JSON.stringify(sent)).not.toContain('\\ud83d');
		expect(hints).toEqual([cutHint]);
	});
});
