import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { withGateway } from '../../support/http/withGateway';
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
	/** The node that sends this link. */
	node(link: string): Node;
	fields?(link: string): IDataObject;
}

const call = (resource: string, operation: string, parameters: IDataObject) =>
	modelGateway({ resource, operation, ...parameters }, { name: 'Call' });

const goodLink = 'https://media.example/a.png';
const images = (link: string) => ({ values: [{ source: 'url', url: link }] });
const withMedia = (medium: IDataObject) => ({ media: [{ type: 'reference_image', ...medium }] });
const createVideo = () => createReferenceVideo({}, { name: 'Call' });

/** Every field with a link that the service fetches. */
const linkFields: LinkField[] = [
	{ label: 'Media 1: URL', node: createVideo, fields: (url) => withMedia({ url }) },
	{
		...{ label: 'Media 1: Voice URL', node: createVideo },
		fields: (link) => withMedia({ url: goodLink, reference_voice: link }),
	},
	...['image', 'mask'].map((name): LinkField => ({
		label: name === 'image' ? 'Image URL' : 'Mask URL',
		node: (link) =>
			call('image', 'edit', {
				...{ model: byId('image-edit-1'), prompt: 'A boat' },
				...{ imageSource: 'url', imageUrl: goodLink },
				...{ [`${name}Source`]: 'url', [`${name}Url`]: link },
			}),
	})),
	{
		label: 'Message 1: Image 1',
		node(link) {
			const values = [{ role: 'user', content: 'Hi', images: images(link) }];
			return call('chat', 'complete', { model: byId('chat-1'), messages: { values } });
		},
	},
	{
		label: 'Image 1',
		node: (link) =>
			call('image', 'chat', {
				...{ model: byId('image-chat-1'), prompt: 'A boat', images: images(link) },
			}),
	},
];

let gateway: Gateway;
withGateway({}, (world) => void ({ gateway } = world));

it.each(linkFields)(
	'refuses a link that the service cannot fetch, and sends nothing: $label',
	async ({ label, node, fields }) => {
		const link = 'http://firm.example/a.png';
		const result = await runWorkflow(chain(node(link)), {
			credentials: credentialFor(gateway),
			input: [{ json: fields?.(link) ?? {} }],
		});
		expect(result.errorOf('Call')?.message).toBe(
			`${label} must be a public https link, and this one starts with http://`,
		);
		expect(gateway.requests).toEqual([]);
	},
);
