import { readFileSync } from 'node:fs';
import { EmbeddingsModelGateway } from '../../../nodes/EmbeddingsModelGateway/EmbeddingsModelGateway.node.js';
import embeddings from '../../../nodes/EmbeddingsModelGateway/EmbeddingsModelGateway.node.json';
import { LmChatModelGateway } from '../../../nodes/LmChatModelGateway/LmChatModelGateway.node.js';
import chatModel from '../../../nodes/LmChatModelGateway/LmChatModelGateway.node.json';
import { ModelGateway } from '../../../nodes/ModelGateway/ModelGateway.node.js';
import modelGateway from '../../../nodes/ModelGateway/ModelGateway.node.json';
import { ModelGatewayWaitForVideo } from '../../../nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.js';
import waitForVideo from '../../../nodes/ModelGatewayWaitForVideo/ModelGatewayWaitForVideo.node.json';

/** An entry in the form of the editor's list. */
const entry = (displayName: string, alias: string[] = []) => ({
	properties: { displayName, codex: { alias } },
});
const own = {
	action: entry(new ModelGateway().description.displayName, modelGateway.alias),
	wait: entry(new ModelGatewayWaitForVideo().description.displayName, waitForVideo.alias),
	model: entry(new LmChatModelGateway().description.displayName, chatModel.alias),
	embeddings: entry(new EmbeddingsModelGateway().description.displayName, embeddings.alias),
};
/** The nodes of n8n-nodes-base. */
const others = (
	JSON.parse(
		readFileSync(require.resolve('n8n-nodes-base/dist/types/nodes.json'), 'utf8'),
	) as Array<{
		displayName: string;
		codex?: { alias?: string[] };
	}>
).map(({ displayName, codex }) => entry(displayName, codex?.alias));

/** The first results of n8n's own search. */
async function found(words: string) {
	const { sublimeSearch } = await import('@n8n/utils/dist/search/sublime-search');
	const all = sublimeSearch(words, [...others, ...Object.values(own)]);
	return all.slice(0, 5).map(({ item }) => item);
}

describe('the search of the node creator', () => {
	it.each([
		...['image to video', 'image-to-video', 'Image to Video', 'text-to-video'],
		...['video', 'image', 'create video', 'create a video', 'generate video'],
		...[
			'product video',
			'reel',
			'text to video',
			'make video',
			'make a video',
			'video generator',
			'video generation',
			'video from pictures',
		],
		...['animate photo', 'describe image', 'images', 'photo', 'pictures'],
		...['AI video', 'ai video', 'video ai'],
		...['create image', 'generate image', 'edit image', 'picture', 'reference video', 'r2v'],
		...['text to image', 'LLM', 'embeddings', 'gateway', 'model gateway', 'download video'],
	])('finds Model Gateway for "%s"', async (words) =>
		expect(await found(words)).toContain(own.action),
	);

	it.each([
		...['wait for video', 'AI video', 'download video', 'save video'],
		...['video', 'video status', 'model gateway', 'gateway'],
	])('finds Wait for Video for "%s"', async (words) =>
		expect(await found(words)).toContain(own.wait),
	);

	it.each(['LLM', 'language model', 'gateway'])('finds the chat model for "%s"', async (words) =>
		expect(await found(words)).toContain(own.model),
	);

	it.each(['embeddings', 'embedding', 'vector', 'RAG', 'semantic search', 'gateway'])(
		'finds the embeddings node for "%s"',
		async (words) => expect(await found(words)).toContain(own.embeddings),
	);
});
