import { arrivedChunks } from '../n8n/chunks';
import { fetchPublished } from '../n8n/owner';
import { withStage } from './support/stage';
import { byId, modelGateway, startedByWebhook } from '../support/workflows/workflows';

/** Between two pieces of the answer. */
const tokenMilliseconds = 150;

describe('a streaming webhook', () => {
	const stage = withStage({ tokenMilliseconds });

	it('a streaming webhook passes the answer on while the model is still writing it', async () => {
		const { owner, gateway } = stage;
		const path = `stream-${Date.now()}`;
		const chat = modelGateway({
			resource: 'chat',
			operation: 'complete',
			model: byId('chat-1'),
			messages: {
				values: [{ role: 'user', content: 'Tell me of the sea, the beach and boats' }],
			},
			options: { stream: true },
		});
		const workflow = startedByWebhook({ path, responseMode: 'streaming' }, chat);
		await owner.publish(await stage.create(workflow));

		const response = await fetchPublished(`${owner.url}/webhook/${path}`);
		const events = await arrivedChunks(response);
		const items = events.filter(({ type }) => type === 'item');
		expect(events.map(({ type }) => type)).toEqual(['begin', ...items.map(() => 'item'), 'end']);
		// An answer that was collected first would arrive all at once.
		expect(items.length).toBeGreaterThan(5);
		const took = items[items.length - 1].at - items[0].at;
		expect(took).toBeGreaterThan(((items.length - 1) * tokenMilliseconds) / 2);
		expect(gateway.ledger).toHaveLength(1);
	});
});
