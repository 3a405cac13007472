import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { picture } from '../../support/data/samples';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';
import { withGateway } from '../../support/http/withGateway';

describe('Image: Chat with earlier messages', () => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	const turn = (name: string, parameters: IDataObject) =>
		modelGateway(
			{ resource: 'image', operation: 'chat', model: byId('image-chat-1'), ...parameters },
			{ name },
		);
	const chatBodies = () =>
		gateway.requests.filter(({ route }) => route === 'chat').map(({ body }) => body);

	it('sends the earlier turns with their images when an image is refined over three turns', async () => {
		const system = { role: 'system', content: 'Keep the style.' };
		const first = { role: 'user', content: 'A lighthouse' };
		const second = { role: 'user', content: 'By night' };
		const answer = (name: string) => ({
			role: 'assistant',
			content: `={{ $('${name}').item.json.text }}`,
			images: { values: [{ source: 'binary', binaryField: name }] },
		});
		const linked = {
			...{ role: 'assistant', content: "={{ $('one').item.json.text }}" },
			images: { values: [{ source: 'url', url: "={{ $('one').item.json.url }}", detail: 'high' }] },
		};
		const options = { includeInputFields: true, temperature: 0.5 };
		const result = await runWorkflow(
			chain(
				turn('one', { prompt: first.content, binaryField: 'one' }),
				turn('two', {
					...{ prompt: second.content, binaryField: 'two', options },
					earlierMessages: { values: [system, first, linked] },
				}),
				turn('three', {
					...{ prompt: 'With a ship', binaryField: 'three', aspectMarker: '1:1', options },
					earlierMessages: { values: [system, first, answer('one'), second, answer('two')] },
				}),
			),
			{ credentials: credentialFor(gateway) },
		);
		expect(result.status).toBe('success');

		const partsOf = async (name: string) => {
			const [item] = result.items(name);
			const data = (await result.binary(item, name)).toString('base64');
			const url = `data:image/png;base64,${data}`;
			return [
				{ type: 'text', text: item.json.text },
				{ type: 'image_url', image_url: { url } },
			];
		};
		const [{ json }] = result.items('one');
		const image_url = { url: json.url, detail: 'high' };
		const parts = [
			{ type: 'text', text: json.text },
			{ type: 'image_url', image_url },
		];
		expect(chatBodies()).toEqual([
			{ model: 'image-chat-1', messages: [first] },
			{
				...{ model: 'image-chat-1', temperature: 0.5 },
				messages: [system, first, { role: 'assistant', content: parts }, second],
			},
			{
				...{ model: 'image-chat-1', temperature: 0.5 },
				messages: [
					...[system, first, { role: 'assistant', content: await partsOf('one') }],
					...[second, { role: 'assistant', content: await partsOf('two') }],
					{ role: 'user', content: 'With a ship【1:1】' },
				],
			},
		]);
		const [last] = result.items('three');
		expect(Object.keys(last.binary ?? {}).sort()).toEqual(['one', 'three', 'two']);
	});

	it('places one order for each item when only an earlier message differs', async () => {
		const earlierMessages = { values: [{ role: 'user', content: '={{ $json.text }}' }] };
		await runWorkflow(chain(turn('one', { prompt: 'A boat', earlierMessages })), {
			credentials: credentialFor(gateway),
			input: [{ json: { text: 'In oil' } }, { json: { text: 'In ink' } }],
		});
		expect(gateway.ledger).toHaveLength(2);
	});

	it('refuses an earlier user message without content, and names it', async () => {
		const values = [
			{ role: 'user', content: ' ' },
			{ role: 'assistant', content: '' },
		];
		const node = turn('one', { prompt: 'A boat', earlierMessages: { values } });
		const result = await runWorkflow(chain(node), { credentials: credentialFor(gateway) });
		expect(result.errorOf('one')?.message).toBe('Earlier Message 1: Content is empty');
		expect(chatBodies()).toEqual([]);
	});

	it('sends the whole conversation from Extra Body in place of the fields', async () => {
		const messages = [{ role: 'user', content: 'A boat' }];
		const earlierMessages = { values: [{ role: 'user', content: '' }] };
		const parameters = {
			prompt: '={{ null }}',
			earlierMessages,
			options: { extraBody: { messages } },
		};
		const result = await runWorkflow(chain(turn('one', parameters)), {
			credentials: credentialFor(gateway),
		});
		expect(result.status).toBe('success');
		expect(chatBodies()).toEqual([{ model: 'image-chat-1', messages }]);
	});
});

describe('Content (JSON) of native messages', () => {
	let gateway: Gateway;
	beforeAll(async () => void (gateway = await startGateway()));
	afterAll(async () => await gateway.close());

	const send = async (message: IDataObject, input: IDataObject = {}) => {
		const before = gateway.requests.length;
		const node = modelGateway({
			...{ resource: 'message', operation: 'create', model: byId('chat-1'), maxTokens: 50 },
			messages: { values: [{ role: 'user', content: '', ...message }] },
		});
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: [{ json: input }],
		});
		const body = gateway.requests[before]?.body as { messages?: unknown } | undefined;
		return { messages: body?.messages, message: result.errorOf('Model Gateway')?.message };
	};
	const data = Buffer.from(picture('red', 8, 8)).toString('base64');
	const parts = [
		{ type: 'text', text: 'What is this?' },
		{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
	];

	it.each<[string, unknown, IDataObject]>([
		['JSON text', JSON.stringify(parts), {}],
		['a list by expression', '={{ $json.parts }}', { parts }],
	])('sends content parts given as %s unchanged', async (_, contentJson, input) => {
		const { messages } = await send({ content: 'Unused', contentJson } as IDataObject, input);
		expect(messages).toEqual([{ role: 'user', content: parts }]);
	});

	it('refuses broken Content (JSON), and names the message', async () => {
		expect(await send({ contentJson: '[{ "type": ' })).toEqual({
			messages: undefined,
			message: 'Message 1: Content (JSON) must be JSON (it is "[{ \\"type\\":")',
		});
	});
});
