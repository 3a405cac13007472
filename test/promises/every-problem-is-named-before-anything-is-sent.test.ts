import type { Gateway } from '../../gateway';
import { withGateway } from '../support/http/withGateway';
import { byId } from '../support/workflows/workflows';
import {
	allOperations,
	detailsOf,
	itemsOf,
	nodeFor,
	run,
	type Fields,
	type Operation,
} from './answers';

let gateway: Gateway;
withGateway({ isTimeSimulated: true, jobSeconds: Infinity }, (world) => void ({ gateway } = world));

/** n8n refuses a required field without a value, but accepts any expression. */
const empty = '={{ "" }}';

it('names all problems of an order at once, and says that nothing was charged', async () => {
	const media = { values: [{ url: 'http://firm.example/a.png' }, { url: 'C:\\a.png' }] };
	const parameters = { prompt: empty, media, options: { duration: 99 } };
	const details = await detailsOf(gateway, 'referenceVideo.create', { parameters });
	for (const problem of [/Prompt/, /Media 1/, /Media 2/, /Duration.*2 to 15/]) {
		expect(details.message).toMatch(problem);
	}
	expect(details).toMatchObject({
		...{ billed: 'no', retry_can_help: false, advice: expect.stringMatching(/Nothing was sent/) },
	});
	expect(gateway.requests).toEqual([]);
});

const broken: Array<[Operation, Fields]> = [
	['chat.complete', { messages: { values: [] } }],
	['message.create', { maxTokens: 0 }],
	['embedding.create', { input: empty }],
	['image.generate', { prompt: empty }],
	['image.edit', { imageBinaryField: 'none' }],
	['image.chat', { prompt: empty }],
	['referenceVideo.get', { taskId: empty }],
	['video.create', { model: byId('beta-2.7-r2v') }],
	['video.getContent', { videoId: '={{ undefined }}' }],
];
it.each(broken)('sends nothing for what surely cannot work: %s', async (name, parameters) => {
	const result = await run(gateway, nodeFor(name, parameters));
	expect(result.errorOf('Node')?.message).toMatch(/\w/);
	const isRead = /get/.test(name);
	if (!isRead) expect(result.errorOf('Node')?.description).toMatch(/nothing was charged/);
	expect(gateway.requests).toEqual([]);
});

it('sends no item when one of them cannot work', async () => {
	const node = nodeFor('chat.complete', {
		messages: { values: [{ role: 'user', content: '={{ $json.text }}' }] },
	});
	const result = await run(gateway, node, { input: itemsOf({ text: 'Hello' }, { text: '' }) });
	expect(result.errorOf('Node')?.message).toMatch(/^Item 1: /);
	expect(gateway.requests).toEqual([]);
});

it('leaves it to the service with Skip Checks', async () => {
	const options = { duration: 99, skipChecks: true };
	const details = await detailsOf(gateway, 'referenceVideo.create', { parameters: { options } });
	expect(details).toMatchObject({ status: 400, code: 'invalid_parameter', billed: 'no' });
	expect(gateway.requests[0].body).toMatchObject({ parameters: { duration: 99 } });
});

it('has an ID of a job lead to no other path of the service', async () => {
	for (const name of allOperations.filter((name) => /get$|getContent/.test(name))) {
		for (const id of ['../../v1/models', 'a/b?c=d#e', '..']) {
			await run(gateway, nodeFor(name), { input: itemsOf({ id, task_id: id }) });
		}
	}
	const routes = new Set(gateway.requests.map(({ route }) => route));
	for (const route of routes) expect(['task', 'video', 'videoContent']).toContain(route);
});
