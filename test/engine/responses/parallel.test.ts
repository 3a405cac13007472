import type { Gateway } from '../../../gateway';
import { runWorkflow, type RunOptions } from '../../harness';
import { CredentialsHelper } from '../../harness/credentials';
import { withGateway } from '../../support/http/withGateway';
import { byId, chain, credentialFor, modelGateway } from '../../support/workflows/workflows';

describe('parallel items', () => {
	let gateway: Gateway;
	withGateway({}, (world) => void ({ gateway } = world));

	const node = modelGateway(
		{
			...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
			messages: { values: [{ role: 'user', content: '={{ $json.text }}' }] },
		},
		{ name: 'Chat' },
	);
	const chats = async (count: number, options: RunOptions = {}) =>
		await runWorkflow(chain(node), {
			credentials: credentialFor(gateway),
			input: Array.from({ length: count }, (_, index) => ({ json: { text: `Text ${index}` } })),
			...options,
		});

	it('sends nothing when Stop comes while 2,000 items are checked', async () => {
		const { modelGatewayApi } = credentialFor(gateway);
		let stop = () => {};
		const credentials = {
			// The node reads the credential before any parameter.
			get modelGatewayApi() {
				setImmediate(stop);
				return modelGatewayApi;
			},
		};
		const result = await chats(2000, { credentials, onStart: (cancel) => void (stop = cancel) });
		expect(result.status).toBe('canceled');
		expect(gateway.requests).toEqual([]);
	});

	it('signs every request when n8n does not reveal how it signs', async () => {
		const { authenticate } = CredentialsHelper.prototype;
		jest.spyOn(CredentialsHelper.prototype, 'authenticate').mockImplementation(async function (
			this: CredentialsHelper,
			...[data, type, sent, ...on]
		) {
			const copy = { ...sent, headers: { ...sent.headers } };
			return await authenticate.call(this, data, type, copy, ...on);
		});
		expect((await chats(30)).items('Chat')).toHaveLength(30);
		jest.restoreAllMocks();
	});
});
