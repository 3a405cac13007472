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

/** What people search for, by the node that they must find. */
const searches: Record<keyof typeof own, string[]> = {
	action: [
		...['video', 'text-to-video', 'image to video', 'Image to Video', 'create a video', 'reel'],
		...['generate video', 'video generator', 'product video', 'make a video', 'AI video', 'r2v'],
		...['video from pictures', 'animate photo', 'describe image', 'photo', 'pictures', 'LLM'],
		...['edit image', 'text to image', 'embeddings', 'model gateway', 'download video'],
		...['make a video from a photo', 'photo to video', 'reels', 'upscale'],
	],
	wait: ['wait for video', 'AI video', 'download video', 'save video', 'video status', 'gateway'],
	model: ['LLM', 'language model', 'gateway'],
	embeddings: ['embeddings', 'embedding', 'vector', 'RAG', 'semantic search', 'gateway'],
};

it.each(
	Object.entries(searches).flatMap(([node, all]) =>
		all.map((words) => [node as keyof typeof own, words] as const),
	),
)('the search of the node creator finds the node %s for “%s”', async (node, words) =>
	expect(await found(words)).toContain(own[node]),
);
