import type { INodeParameters } from 'n8n-workflow';
import { operations } from '../../../nodes/ModelGateway/resources';
import { resourceOf } from '../../../nodes/shared/n8n/errors/advice';
import { listSearch } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
import { nodeFor, type Fields } from '../../support/nodes';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	type Node,
} from '../../support/workflows/workflows';

const type = 'n8n-nodes-model-gateway.modelGateway';

const { gateway, runWorkflow } = withGateway({});

describe('the list of models', () => {
	const listed = async (parameters: INodeParameters, { node = type, filter = '' } = {}) => {
		const settings = { credentials: credentialFor(gateway), parameters, filter };
		const { results } = await listSearch(node, 'searchModels', settings);
		return results;
	};
	const names = async (...search: Parameters<typeof listed>) =>
		(await listed(...search)).map(({ name }) => name);

	const forVideo = { resource: 'video', operation: 'create' };
	const forReferenceVideo = { resource: 'referenceVideo', operation: 'create' };

	it('shows what the specification says about each model, and its ID as the value', async () => {
		const entries = await listed(forVideo);
		expect(entries.slice(0, 2)).toEqual([
			{ name: 'vid-3.1 (Portrait, standard)', value: 'vid-3.1' },
			{ name: 'vid-3.1-fl (Portrait, frame-to-video)', value: 'vid-3.1-fl' },
		]);
		expect(entries.slice(-2)).toEqual([
			{ name: 'alpha-1.1-r2v (a model of Reference Video)', value: 'alpha-1.1-r2v' },
			{ name: 'beta-2.7-r2v (a model of Reference Video)', value: 'beta-2.7-r2v' },
		]);
		expect((await names(forReferenceVideo)).slice(0, 2)).toEqual([
			'alpha-1.1-r2v (Up to 9 images)',
			'beta-2.7-r2v (Up to 5 images and videos)',
		]);
		expect(await names(forReferenceVideo)).toContain('vid-3.1-fast (a model of Video)');
	});

	it.each([
		[{ resource: 'chat', operation: 'complete' }, type, 'chat-1'],
		[{ resource: 'message', operation: 'create' }, type, 'chat-1'],
		[{ resource: 'embedding', operation: 'create' }, type, 'embed-1'],
		[{ resource: 'image', operation: 'chat' }, type, 'image-1'],
		[{}, 'n8n-nodes-model-gateway.lmChatModelGateway', 'chat-1'],
		[{}, 'n8n-nodes-model-gateway.embeddingsModelGateway', 'embed-1'],
	])('lists suitable models first: %j %s', async (parameters, node, first) => {
		const found = await names(parameters as INodeParameters, { node });
		expect(found[0]).toBe(first);
	});

	it.each([
		[{ resource: 'chat', operation: 'complete' }, ['Embedding', 'Image', 'Video']],
		[{ resource: 'embedding', operation: 'create' }, ['Chat', 'Image', 'Video']],
		[{ resource: 'image', operation: 'generate' }, ['Chat', 'Embedding', 'Video']],
		[forVideo, ['Chat', 'Embedding', 'Image', 'Reference Video']],
		[forReferenceVideo, ['Chat', 'Embedding', 'Image', 'Video']],
	])('marks what models are probably for in a list of others: %j', async (parameters, marks) => {
		const ids = [
			'gpt-7',
			'big-instruct',
			'embedding-9',
			'gpt-image-7',
			'vid-9',
			'omega-r2v',
			'zeta',
			'nvidia/zeta',
		];
		const body = JSON.stringify({ data: ids.map((id) => ({ id })) });
		gateway.fault({ route: 'models', action: 'answer', body });
		const found = await names(parameters);
		const own = (mark: string) =>
			found.filter((name) => name.endsWith(`(probably a model of ${mark})`));
		const expected: Record<string, string[]> = {
			Chat: ['big-instruct', 'gpt-7'],
			Embedding: ['embedding-9'],
			Image: ['gpt-image-7'],
			Video: ['vid-9'],
			'Reference Video': ['omega-r2v'],
		};
		for (const mark of marks) {
			expect(own(mark)).toEqual(expected[mark].map((id) => `${id} (probably a model of ${mark})`));
		}
		expect(found).toEqual(expect.arrayContaining(['zeta', 'nvidia/zeta']));
	});
});

describe('models of another resource', () => {
	const media = [{ type: 'reference_image', url: 'https://firm.example/a.png' }];
	const create = createReferenceVideo({ model: byId('vid-3.1'), options: { skipChecks: true } });

	const failureOf = async (node: Node, json: Fields = {}) => {
		const result = await runWorkflow(chain(node), { input: [{ json }] });
		return result.errorOf(node.name);
	};

	it('names the resource of a model as the menu does', () => {
		const resources = operations.map(({ resource }) => [resource.value, resource.name]);
		expect(Object.fromEntries(resources)).toMatchObject(resourceOf);
	});

	const video = (more: Fields) => nodeFor('video.create', more);
	const extra = (id: string) => ({ options: { extraBody: JSON.stringify({ model: id }) } });

	it.each([
		['Reference Video', 'Model alpha-1.1-r2v', video({ model: byId('alpha-1.1-r2v') })],
		['Video', 'Model vid-3.1-fl', createReferenceVideo({ model: byId('vid-3.1-fl') })],
		[
			'Reference Video',
			'Extra Body (JSON): Model beta-2.7-r2v',
			video({ model: byId('vid-3.1'), ...extra('beta-2.7-r2v') }),
		],
		['Video', 'Extra Body (JSON): Model vid-3.1', createReferenceVideo(extra('vid-3.1'))],
	] as const)('refuses a model of %s in the other: %s', async (resource, model, node) => {
		const before = gateway.requests.length;
		const error = await failureOf(node, { media });
		expect(error?.message).toBe(`${model} belongs to ${resource}: choose that resource`);
		expect(gateway.requests).toHaveLength(before);
	});

	it.each(['chat-1', 'vid-9'])(
		'says that %s is probably not for an operation of videos that refuses it',
		async (id) => {
			const advice =
				'Choose another model from the list, which begins with those that fit, or check the ID that was typed.';
			for (const node of [video({ model: byId(id) }), createReferenceVideo({ model: byId(id) })]) {
				expect((await failureOf(node, { media }))?.description).toContain(advice);
			}
		},
	);

	it.each([
		['vid-3.1', 'Video'],
		['beta-2.7-r2v', 'Reference Video'],
	])('says in a refusal of a chat that %s is a model of %s', async (id, resource) => {
		const error = await failureOf(nodeFor('chat.complete', { model: byId(id) }));
		expect(error?.message).toContain(`${id} is a model of another kind; the service said: `);
		expect(error?.description).toMatch(
			new RegExp(
				`^Nothing was charged. ${id} is a model of ${resource}: Create. Choose another model here, or that operation.`,
			),
		);
		expect(error?.description).not.toContain('check the ID');
	});

	it.each([
		[400, 'no endpoint for vid-3.1', true],
		[500, 'vid-3.1 has no channel', true],
		[422, 'no such model', true],
		[404, 'model_not_found', true],
		[400, 'the content was refused for safety', false],
		[403, 'vid-3.1 is not permitted for this group', false],
	])(
		'names the resource of a model only when the refusal may be about the model: HTTP %d, %s',
		async (status, message, isBlamed) => {
			const error = { status, code: 'any_code', message };
			gateway.fault({ route: 'referenceVideoCreate', action: 'error', ...error });
			const failure = await failureOf(create, { media });
			expect(failure?.message).toContain(message);
			expect(failure?.description?.includes('is a model of Video')).toBe(isBlamed);
		},
	);
});

describe('frame-to-video models', () => {
	it.each([
		['vid-3.1-fl', {}, true],
		['vid-3.1-fl', { extraBody: { image: 'https://firm.example/frame.png' } }, false],
		['vid-3.1', {}, false],
	])(
		'shows a hint only when a frame-to-video model was sent without frames: %s, %j',
		async (id, options: Fields, isHinted) => {
			const before = gateway.ledger.length;
			const node = nodeFor('video.create', { model: byId(id), options });
			const result = await runWorkflow(chain(node), { mode: 'trigger', startNode: 'Start' });
			const hint = `Model ${id} makes videos from frames, and Extra Body (JSON) gave it none.`;
			expect(result.hintsOf(node.name)).toEqual(isHinted ? [hint] : []);
			expect(gateway.ledger).toHaveLength(before + 1);
		},
	);
});
