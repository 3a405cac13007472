import { readExample } from '../support/workflows/examples';
import { picture, titleOf } from '../support/data/samples';
import { arrivedChunks, type ArrivedChunk } from '../n8n/chunks';
import { having, lackOf } from '../n8n/features';
import { fetchPublished, itemsOf, type CredentialReference, type Execution } from '../n8n/owner';
import { withStage } from './support/stage';
import {
	agent,
	asTool,
	byId,
	chain,
	chatModel,
	core,
	langchain,
	modelGateway,
	type Node,
	startedBy,
	told,
	waitForVideo,
	withSubNodes,
} from '../support/workflows/workflows';
import type { WorkflowJson } from '../harness/workflow';

const jobSeconds = 4;

interface TokenUsage {
	completionTokens: number;
	promptTokens: number;
	totalTokens: number;
}

const usageOf = ({ data }: Execution): TokenUsage[] =>
	data.resultData.runData['Chat Model'].map(
		// n8n has no type for the stored form.
		(run) => run.data?.ai_languageModel?.[0]?.[0].json.tokenUsage as unknown as TokenUsage,
	);

/** A field of the first item that a tool returned to the model. */
const resultField = (text: string | undefined, field: string): string => {
	const [first] = JSON.parse(text ?? '') as Array<Record<string, unknown>>;
	return String(first[field]);
};

describe('AI nodes of n8n with the nodes of this package', () => {
	const stage = withStage({ jobSeconds });
	let openAi: CredentialReference;

	beforeAll(async () => {
		const { apiKey, url } = stage.gateway;
		openAi = await stage.owner.createCredentialOf('openAiApi', { apiKey, url: `${url}/v1` });
	});

	/** The chat model of this package, or n8n's own where this n8n cannot use ours. */
	const model = (): Node =>
		lackOf('chatModels') === undefined
			? chatModel({ model: byId('chat-1') })
			: {
					...langchain('Chat Model', 'lmChatOpenAi', { model: byId('chat-1') }, 1.2),
					credentials: { openAiApi: openAi },
				};

	const create = () =>
		modelGateway({
			resource: 'video',
			operation: 'create',
			model: byId('vid-3.1'),
			prompt: "={{ $fromAI('prompt', 'What happens in the video', 'string') }}",
		});
	const charges = (kind: string, since: number) =>
		stage.gateway.ledger.slice(since).filter((charge) => charge.kind === kind);
	const ledgerLength = () => stage.gateway.ledger.length;

	const withTools = (workflow: WorkflowJson, tools: Node[]) =>
		withSubNodes(
			workflow,
			['ai_languageModel', model()],
			...tools.map((tool): ['ai_tool', Node] => ['ai_tool', tool]),
		);

	/** Publishes a chat with an agent and sends a message to it. */
	async function chat(text: string, ...tools: Node[]) {
		const { owner } = stage;
		const webhookId = `chat-${Date.now()}`;
		const trigger = {
			...langchain(
				'Start',
				'chatTrigger',
				{ public: true, mode: 'webhook', options: { responseMode: 'streaming' } },
				1.3,
			),
			webhookId,
		};
		const workflow = await stage.create(withTools(startedBy(trigger, agent()), tools));
		await owner.publish(workflow);
		const response = await fetchPublished(`${owner.url}/webhook/${webhookId}/chat`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ action: 'sendMessage', sessionId: webhookId, chatInput: text }),
		});
		const chunks = await arrivedChunks(response);
		const [latest] = await owner.executionsOf(workflow);
		return { chunks, execution: await owner.ended(latest.id) };
	}
	const saidBy = (chunks: ArrivedChunk[], node: string) =>
		chunks
			.filter(({ type, metadata }) => type === 'item' && metadata.nodeName === node)
			.map(({ content }) => content)
			.join('');

	having('chatModels')(
		'an agent makes a video of what is typed into the chat and answers with its link',
		async () => {
			const { gateway } = stage;
			const before = ledgerLength();
			gateway.script(
				{ calls: [{ name: 'Create_Video', arguments: { prompt: 'A boat crosses a lake' } }] },
				(messages) => {
					const id = resultField(messages.at(-1)?.text, 'id');
					return { calls: [{ name: 'Wait_for_Video', arguments: { job_id: id } }] };
				},
				(messages) => {
					const url = resultField(messages.at(-1)?.text, 'url');
					return `Your video is ready: [watch the boat](${url}). The link works for 24 hours.`;
				},
			);
			const editor = await stage.editor();
			const { page } = editor;
			await page.setViewportSize({ width: 1440, height: 1150 });
			await editor.importWorkflow(stage.imported(readExample('video-agent.json')));
			await page.getByTestId('workflow-chat-button').click();
			await editor.raiseChat(150);
			const typed = page.getByTestId('canvas-chat').locator('textarea');
			await typed.fill('Make me a video of a boat');
			await typed.press('Enter');

			const messages = page.getByTestId('canvas-chat-body');
			await messages
				.getByText(/Video job video_\S+: (queued|processing)/)
				.first()
				.waitFor();
			expect(gateway.requests.filter(({ route }) => route === 'videoContent')).toEqual([]);

			const link = messages.getByRole('link', { name: 'watch the boat' });
			await link.waitFor();
			await messages.getByText(/Video job video_\S+: completed/).waitFor();
			await page
				.getByText(/Success in/)
				.first()
				.waitFor();
			await page.getByText('Workflow executed successfully').waitFor({ state: 'hidden' });
			await editor.takePicture('agent-chat');
			const video = await fetch((await link.getAttribute('href')) ?? '');
			expect(titleOf(new Uint8Array(await video.arrayBuffer()))).toBe('A boat crosses a lake');
			expect(charges('video', before)).toHaveLength(1);
			const { tools } = gateway.requests.find(({ route }) => route === 'chat')?.body as {
				tools: Array<{ function: { name: string; description: string } }>;
			};
			expect(tools.map((tool) => [tool.function.name, tool.function.description]).sort()).toEqual([
				[
					'Create_Video',
					expect.stringMatching(/^Create video from text\. .* Each call costs money\.$/),
				],
				['Wait_for_Video', expect.stringMatching(/ Costs nothing, takes minutes\.$/)],
			]);
			expect(editor.complaints).toEqual([]);
		},
	);

	it('an agent makes a video with tools whose Prompt and Job ID nobody has filled in', async () => {
		const before = ledgerLength();
		const order = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
		const { chunks } = await chat(
			'Make me a video of a boat',
			asTool(modelGateway(order), 'Create_Video'),
			asTool(waitForVideo(), 'Wait_for_Video'),
		);
		const [, url] = /\[watch it\]\((.*)\)/.exec(saidBy(chunks, 'AI Agent')) ?? [];
		expect((await fetch(url)).headers.get('content-type')).toBe('video/mp4');
		expect(charges('video', before)).toHaveLength(1);
	});

	having('chatModels')(
		'an agent calls two tools in one streamed turn and reports the tokens charged',
		async () => {
			const before = ledgerLength();
			stage.gateway.script(
				{
					text: 'Two of them.',
					calls: ['A boat', 'A train'].map((prompt) => ({ name: 'Create', arguments: { prompt } })),
				},
				(messages) => {
					const results = messages.filter(({ role }) => role === 'tool');
					const ids = results.map(({ text }) => resultField(text, 'id'));
					return `Ordered: ${ids.join(' and ')}`;
				},
			);
			const { chunks, execution } = await chat('Two videos', asTool(create(), 'Create'));
			const [first, second] = charges('video', before);
			const said = saidBy(chunks, 'AI Agent');
			expect(said).toMatch(/^Two of them\.Ordered: /);
			expect(said).toContain(first.job);
			expect(said).toContain(second.job);
			expect(charges('video', before)).toHaveLength(2);
			expect(usageOf(execution).map(({ totalTokens }) => totalTokens)).toEqual(
				charges('chat', before).map(({ quantity }) => quantity),
			);
		},
	);

	having('chatModels')(
		'a chain and an agent return the structure that an output parser requires',
		async () => {
			const boat = { name: 'Albatross', masts: 2 };
			const parser = langchain(
				'Structured Output Parser',
				'outputParserStructured',
				{ schemaType: 'fromJson', jsonSchemaExample: JSON.stringify(boat) },
				1.3,
			);
			const root = langchain(
				'Chain',
				'chainLlm',
				{ ...told('A boat'), hasOutputParser: true },
				1.7,
			);
			const parsed = async (root: Node) => {
				const execution = await stage.run(
					withSubNodes(
						chain(root),
						['ai_languageModel', chatModel({ model: byId('chat-1') })],
						['ai_outputParser', parser],
					),
				);
				return itemsOf(execution, root.name)[0]?.json;
			};
			stage.gateway.script(`\`\`\`json\n${JSON.stringify({ output: boat })}\n\`\`\``);
			expect(await parsed(root)).toEqual({ output: boat });
			stage.gateway.script({
				calls: [{ name: 'format_final_json_response', arguments: { output: boat } }],
			});
			expect(await parsed(agent({ ...told('A boat'), hasOutputParser: true }))).toEqual({
				output: boat,
			});
		},
	);

	having('chatModels')('a chain sends an image to the chat model', async () => {
		const { gateway } = stage;
		const url = gateway.addMedia('green.png', picture('green'), 'image/png');
		const options = { response: { response: { responseFormat: 'file' } } };
		const fetched = core('Fetch', 'httpRequest', { url, options }, 4.2);
		const messages = {
			messageValues: [
				{
					type: 'HumanMessagePromptTemplate',
					messageType: 'imageBinary',
					binaryImageDataKey: 'data',
					imageDetail: 'auto',
				},
			],
		};
		const root = langchain('Chain', 'chainLlm', { ...told('What is it?'), messages }, 1.7);
		const before = gateway.requests.length;
		const model = chatModel({ model: byId('chat-1') });
		const execution = await stage.run(
			withSubNodes(chain(fetched, root), ['ai_languageModel', model]),
		);
		expect(itemsOf(execution, 'Chain')[0].json.text).toContain('640');
		const [{ body }] = gateway.requests.slice(before).filter(({ route }) => route === 'chat');
		const data = Buffer.from(picture('green')).toString('base64');
		expect(JSON.stringify(body)).toContain(`"url":"data:image/png;base64,${data}"`);
	});

	it('a vector store finds the document that answers a question', async () => {
		const before = ledgerLength();
		const editor = await stage.editor();
		await editor.importWorkflow(stage.imported(readExample('documents-in-a-vector-store.json')));
		expect(await editor.execute()).toBe('Workflow executed successfully');
		const found = await editor.openNode('Found');
		await found.getByText('You get your money back within 14 days').first().waitFor();
		// One request for all documents, and one for the question.
		expect(charges('embedding', before)).toHaveLength(2);
	});
});
