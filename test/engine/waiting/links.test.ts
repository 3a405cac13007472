import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway, type Route } from '../../../gateway';
import { runWorkflow } from '../../harness';
import {
	byId,
	chain,
	createReferenceVideo,
	credentialFor,
	modelGateway,
	type Node,
} from '../../support/workflows/workflows';

interface LinkField {
	/** The name of the field in the error. */
	label: string;
	route: Route;
	/** The node that sends this link. */
	node(link: string, options: IDataObject): Node;
	fields?(link: string): IDataObject;
}

const call = (resource: string, operation: string, parameters: IDataObject) =>
	modelGateway({ resource, operation, ...parameters }, { name: 'Call' });

const goodLink = 'https://media.example/a.png';
const images = (link: string) => ({ values: [{ source: 'url', url: link }] });
const withMedia = (medium: IDataObject) => ({ media: [{ type: 'reference_image', ...medium }] });
const createVideo = (_: string, options: IDataObject) =>
	createReferenceVideo({ options }, { name: 'Call' });

/** Every field with a link that the service fetches. */
const linkFields: LinkField[] = [
	{
		...{ label: 'Media 1: URL', route: 'referenceVideoCreate', node: createVideo },
		fields: (url) => withMedia({ url }),
	},
	{
		...{ label: 'Media 1: Voice URL', route: 'referenceVideoCreate', node: createVideo },
		fields: (link) => withMedia({ url: goodLink, reference_voice: link }),
	},
	...['image', 'mask'].map((name): LinkField => ({
		label: name === 'image' ? 'Image URL' : 'Mask URL',
		route: 'imageEdit',
		node: (link, options) =>
			call('image', 'edit', {
				...{ model: byId('image-edit-1'), prompt: 'A boat', options },
				...{ imageSource: 'url', imageUrl: goodLink },
				...{ [`${name}Source`]: 'url', [`${name}Url`]: link },
			}),
	})),
	{
		...{ label: 'Message 1: Image 1', route: 'chat' },
		node: (link, options) =>
			call('chat', 'complete', {
				...{ model: byId('chat-1'), options },
				messages: { values: [{ role: 'user', content: 'Hi', images: images(link) }] },
			}),
	},
	{
		...{ label: 'Image 1', route: 'chat' },
		node: (link, options) =>
			call('image', 'chat', {
				...{ model: byId('image-chat-1'), prompt: 'A boat', options },
				images: images(link),
			}),
	},
];

const badLinks = [
	['http://firm.example/a.png', 'must be a public https link, and this one starts with http://'],
	[
		'https://192.168.1.5/a.png',
		'must be a link that the gateway can fetch; 192.168.1.5 is reachable from your own network only',
	],
] as const;

describe.each(linkFields)('links in $label', ({ label, route, node, fields }) => {
	let gateway: Gateway;
	beforeAll(async () => {
		gateway = await startGateway();
		// How the service handles the link does not matter here.
		gateway.fault({ route, action: 'error', status: 400, code: 'so_it_is', times: Infinity });
	});
	afterAll(async () => await gateway.close());

	const run = async (link: string, options: IDataObject = {}) => {
		const before = gateway.requests.length;
		const result = await runWorkflow(chain(node(link, options)), {
			credentials: credentialFor(gateway),
			input: [{ json: fields?.(link) ?? {} }],
		});
		return { error: result.errorOf('Call'), requests: gateway.requests.slice(before) };
	};

	it.each(badLinks)(
		'refuses a link that the gateway cannot fetch before it sends anything: %s',
		async (link, problem) => {
			const { error, requests } = await run(link);
			expect(error?.message).toBe(`${label} ${problem}`);
			expect(requests).toEqual([]);
		},
	);

	it('sends a link to this machine when the gateway runs on it', async () => {
		expect((await run('http://127.0.0.1:8080/a.wav')).requests).toHaveLength(1);
	});
});
