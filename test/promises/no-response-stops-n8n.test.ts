import { endless, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { detailsOf, itemsOf, type Operation } from '../support/nodes';

const { gateway } = withGateway({ jobSeconds: Infinity });

/** The beginning of a text that has no end. */
const piece = 'iVBORw0KGg'.repeat(20_000);

it.each<Operation>(['video.create', 'referenceVideo.create', 'model.getAll', 'video.get'])(
	'gives up a response without end, and lets its connection go: %s',
	async (name) => {
		const server = await startServer(endless(piece, { 'content-type': 'application/json' }));
		const input = itemsOf({ id: 'video_1' });
		const details = await detailsOf({ ...gateway, url: server.url }, name, { input });
		const millions = name === 'video.get' ? 100 : 10;
		expect(details.message).toContain(`more than ${millions} million characters`);
		expect(details.billed).toBe(name === 'model.getAll' ? 'no' : 'unknown');
		await server.idle();
		expect(server.requests).toHaveLength(1);
	},
);

it('refuses a response that is nested deeper than any value of the service, at once', async () => {
	const deep = '['.repeat(200_000) + ']'.repeat(200_000);
	for (const route of ['chat', 'embedding', 'imageGenerate', 'models'] as const) {
		gateway.fault({ route, action: 'answer', body: `{"data":${deep}}` });
	}
	for (const name of [
		'chat.complete',
		'embedding.create',
		'image.generate',
		'model.getAll',
	] as const) {
		expect((await detailsOf(gateway, name)).message).toMatch(/the response has/);
	}
	expect(gateway.requests).toHaveLength(4);
});
