import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway, type Route } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { picture } from '../../support/data/samples';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';

/** Whole requests, for fields that no other operation test compares. `fieldTable.test.ts` sends each field alone. */
describe('whole requests', () => {
	let gateway: Gateway;
	let link: string;
	beforeAll(async () => {
		gateway = await startGateway({ jobSeconds: Infinity });
		link = gateway.addMedia('red.png', picture('red'), 'image/png');
	});
	afterAll(async () => await gateway.close());

	/** The body of the node's request to this route. */
	const bodyOf = async (route: Route, node: Node, json = {}) => {
		const result = await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: [{ json }],
		});
		expect(result.errorOf(node.name)).toBeUndefined();
		return gateway.requests.filter((request) => request.route === route).at(-1)?.body;
	};

	it('sends media from fields with a voice, a resolution and a ratio for a reference video', async () => {
		const voiceUrl = gateway.addMedia('voice.mp3', new Uint8Array(1), 'audio/mpeg');
		const create = createReferenceVideo({
			mediaInput: 'fields',
			media: { values: [{ type: 'reference_image', source: 'url', url: link, voiceUrl }] },
			options: { resolution: '1080P', ratio: '4:3' },
		});
		expect(await bodyOf('referenceVideoCreate', create)).toEqual({
			model: 'beta-2.7-r2v',
			input: {
				prompt: 'A walk on the beach',
				media: [{ type: 'reference_image', url: link, reference_voice: voiceUrl }],
			},
			parameters: { resolution: '1080P', ratio: '4:3' },
		});
	});

	it('sends model, max_tokens and messages for a native message', async () => {
		const message = modelGateway({
			...{ resource: 'message', operation: 'create', model: byId('chat-1'), maxTokens: 7 },
			options: { versionHeaderName: 'vendor-version', versionHeaderValue: '2024-10-01' },
			messages: { values: [{ role: 'user', content: 'Hello there' }] },
		});
		expect(await bodyOf('message', message)).toEqual({
			model: 'chat-1',
			max_tokens: 7,
			messages: [{ role: 'user', content: 'Hello there' }],
		});
	});

	it('sends model and input for an embedding, and encoding_format only when it is set', async () => {
		const embedding = (options: IDataObject) =>
			modelGateway({
				...{ resource: 'embedding', operation: 'create', model: byId('embed-1') },
				...{ input: 'A boat', options },
			});
		expect(await bodyOf('embedding', embedding({}))).toEqual({
			model: 'embed-1',
			input: ['A boat'],
		});
		expect(await bodyOf('embedding', embedding({ encodingFormat: 'float' }))).toEqual({
			model: 'embed-1',
			input: ['A boat'],
			encoding_format: 'float',
		});
	});

	it('sends aspect_ratio, seed, prompt_upsampling and safety_tolerance for an image', async () => {
		const options = { aspectRatio: '21:9', seed: 0, promptUpsampling: false, safetyTolerance: 0 };
		const image = modelGateway({
			...{ resource: 'image', operation: 'generate', model: byId('image-1-kontext') },
			...{ prompt: 'A lighthouse', options },
		});
		expect(await bodyOf('imageGenerate', image)).toEqual({
			...{ model: 'image-1-kontext', prompt: 'A lighthouse' },
			...{ aspect_ratio: '21:9', seed: 0, prompt_upsampling: false, safety_tolerance: 0 },
		});
	});

	it('sends image and mask as links, n, size and aspect_ratio for an edited image', async () => {
		const options = { n: 2, size: '64x48', aspectRatio: '4:3' };
		const edit = modelGateway({
			...{ resource: 'image', operation: 'edit', model: byId('image-edit-1-url') },
			...{ prompt: 'A red hat', imageSource: 'url', imageUrl: link },
			...{ maskSource: 'url', maskUrl: link, options },
		});
		expect(await bodyOf('imageEdit', edit)).toEqual({
			...{ model: 'image-edit-1-url', prompt: 'A red hat', image: link, mask: link },
			...{ n: '2', size: '64x48', aspect_ratio: '4:3' },
		});
	});
});
