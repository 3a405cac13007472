import { readFileSync } from 'node:fs';
import manifest from '../../../package.json';
import { nodesWith } from '../../harness/registry';
import { read } from '../../support/files/repository';

interface ListedNode {
	displayName: string;
	codex?: { alias?: string[] };
}
const nodesOfN8n = JSON.parse(
	readFileSync(require.resolve('n8n-nodes-base/dist/types/nodes.json'), 'utf8'),
) as ListedNode[];
const ownNodes = manifest.n8n.nodes.map((file, index) => {
	const codex = JSON.parse(read(file.replace('dist/', '').replace('.js', '.json'))) as unknown;
	const { displayName } = nodesWith('modelGatewayApi')[index].description;
	return { displayName, codex } as ListedNode;
});
/** In the form of the editor's list. */
const entries = [...nodesOfN8n, ...ownNodes].map(({ displayName, codex: { alias = [] } = {} }) => ({
	properties: { displayName, codex: { alias } },
}));

/** What people search for, by the node that they must find. */
const searches: Record<string, string> = {
	'Model Gateway': `
		video, text-to-video, image to video, Image to Video, create a video, reel, generate video,
		video generator, product video, make a video, AI video, r2v, video from pictures, animate photo,
		describe image, photo, pictures, LLM, edit image, text to image, embeddings, model gateway,
		download video, make a video from a photo, photo to video, reels, upscale
	`,
	'Wait for Video': 'wait for video, AI video, download video, save video, video status, gateway',
	'Model Gateway Chat Model': 'LLM, language model, gateway',
	'Embeddings Model Gateway': 'embeddings, embedding, vector, RAG, semantic search, gateway',
};
const listed = (text: string) => text.split(',').map((words) => words.trim());

it.each(
	Object.entries(searches).flatMap(([node, all]) => listed(all).map((words) => [node, words])),
)('the search of the node creator finds the node %s for “%s”', async (node, words) => {
	const { sublimeSearch } = await import('@n8n/utils/dist/search/sublime-search');
	const first = sublimeSearch(words, entries).slice(0, 5);
	expect(first.map(({ item }) => item.properties.displayName)).toContain(node);
});
