import type { IDataObject } from 'n8n-workflow';
import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
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
		const options = { includeInputFields: true };
		const result = await runWorkflow(
			chain(
				turn('one', { prompt: first.content, binaryField: 'one' }),
				turn('two', {
					...{ prompt: second.content, binaryField: 'two', options },
					earlierMessages: { values: [system, first, answer('one')] },
				}),
				turn('three', {
					...{ prompt: 'With a ship', binaryField: 'three', options },
					earlierMessages: { values: [system, first, answer('one'), second, answer('two')] },
				}),
			),
			{ credentials: credentialFor(gateway) },
		);
		expect(result.status).toBe('success');

		const answered = async (name: string) => {
			const [item] = result.items(name);
			const data = (await result.binary(item, name)).toString('base64');
			const url = `data:image/png;base64,${data}`;
			const content = [
				{ type: 'text', text: item.json.text },
				{ type: 'image_url', image_url: { url } },
			];
			return { role: 'assistant', content };
		};
		const upToOne = [system, first, await answered('one')];
		expect(chatBodies()).toMatchObject([
			{ messages: [first] },
			{ messages: [...upToOne, second] },
			{ messages: [...upToOne, second, await answered('two'), { content: 'With a ship' }] },
		]);
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
});
