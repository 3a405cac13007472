import {
	byId,
	chatModel,
	embeddings,
	langchain,
	to,
	withSubNodes,
	type Node,
} from '../../test/support/workflows/workflows';
import type { WorkflowJson } from '../../test/harness/workflow';
import { fromTexts, PublishedWay, resultName, type Way } from './measure';
import { credentialsFor, result } from './nodes';
import { inTurns, requireOneEach } from './rounds';
import type { Work } from './work';

/** Models connected to n8n's own AI nodes: ours and OpenAI's. */
export const subNodes: Work = async ({ rounds, isSmall, ...setup }) => {
	const [documents, questions] = isSmall ? [150, 10] : [500, 20];
	const forChats = await credentialsFor(setup, 'chats');
	const forTexts = await credentialsFor(setup, 'embeddings');
	const stores = {
		'Embeddings Model Gateway': embeddings({ model: byId('embed-1') }, forTexts.ours),
		'OpenAI embeddings': {
			...langchain('Embeddings', 'embeddingsOpenAi', { model: 'embed-1' }, 1.2),
			credentials: { openAiApi: forTexts.openAi },
		},
	};
	const completions = { model: byId('chat-1'), responsesApiEnabled: false };
	const models = {
		'Model Gateway Chat Model': chatModel({ model: byId('chat-1') }, forChats.ours),
		'OpenAI Chat Model': {
			...langchain('Chat Model', 'lmChatOpenAi', completions, 1.3),
			credentials: { openAiApi: forChats.openAi },
		},
	};
	const chains = (): Way[] =>
		Object.entries(models).map(([name, model]) => ({
			name,
			gateway: 'chats',
			workflow: asking(model),
		}));

	const storing = Object.entries(stores).map(([name, node]): Way => ({
		name,
		gateway: 'embeddings',
		workflow: inserting(node),
	}));

	const texts = (count: number) => Array.from({ length: count }, (_, index) => `Text ${index}`);
	const stored = await inTurns(setup, storing, {
		texts: texts(documents),
		rounds,
		warmUp: 3,
		check({ items }, wanted) {
			if (items.length !== wanted) throw new Error(`${wanted} documents gave ${items.length}`);
		},
	});
	const asked = await inTurns(setup, chains(), {
		texts: texts(questions),
		rounds,
		warmUp: 3,
		check: requireOneEach,
	});

	const findings: string[] = [];
	for (const [index, way] of chains().entries()) {
		const published = await PublishedWay.publish(setup, way);
		await setup.service.refuse();
		const measured = await published.run(texts(questions));
		const { execution, requests, charges, items } = measured;
		if (index === 0) requireOneEach(measured, questions);
		findings.push(
			`${way.name}, if one of ${questions} chats gets a 429 with \`Retry-After: 1\`: the execution ends as “${execution.status}”, with ${items.length} of ${questions} answers, ${requests} requests and ${charges} charges.`,
		);
	}
	return {
		title: 'Sub-nodes of AI nodes',
		about: [
			`${documents} documents are inserted into n8n's in-memory vector store, and ${questions} items go through a Basic LLM Chain. Each is measured with the sub-node of this package and with n8n's sub-node for OpenAI, whose credential has the server as its base URL. All sub-nodes have their default settings, except that OpenAI Chat Model uses chat completions. The chain sends 5 items at a time.`,
			'The store and the chain take most of the time, and are the same for both. The vector store passes on 200 documents at a time. The sub-node for OpenAI sends them in one request. The sub-node of this package sends requests of up to 100, at the same time.',
		],
		tables: [
			{ title: `${documents} documents into a vector store`, rows: stored },
			{ title: `${questions} items through a chain`, rows: asked },
		],
		goals: [],
		findings,
	};
};

/** Inserts each text into the vector store that n8n keeps in memory. */
function inserting(node: Node): WorkflowJson {
	const key = { memoryKey: byId(node.type) };
	const insert = langchain(
		resultName,
		'vectorStoreInMemory',
		{ mode: 'insert', ...key, clearStore: true },
		1.3,
	);
	const json = { jsonMode: 'expressionData', jsonData: '={{ $json.text }}' };
	return withSubNodes(
		fromTexts([insert]),
		['ai_embedding', node],
		['ai_document', langchain('Loader', 'documentDefaultDataLoader', json, 1.1)],
	);
}

/** Asks the model for each text. */
function asking(node: Node): WorkflowJson {
	const prompt = { promptType: 'define', text: '={{ $json.text }}' };
	const chain = langchain('Chain', 'chainLlm', prompt, 1.7);
	const { nodes, connections, ...row } = withSubNodes(fromTexts([chain]), [
		'ai_languageModel',
		node,
	]);
	const withResult = [...nodes.slice(0, -1), result, ...nodes.slice(-1)];
	return {
		...row,
		nodes: withResult,
		connections: { ...connections, Chain: { main: [to(resultName)] } },
	};
}
