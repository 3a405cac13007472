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
} from '../support/nodes';

const { gateway } = withGateway({ isTimeSimulated: true, jobSeconds: Infinity });

const beta = { model: byId('beta-2.7-r2v') };
const link = 'https://firm.example/a.png';
/** n8n refuses a required field without a value, but accepts any expression. */
const empty = '={{ "" }}';

it('names all problems of an order at once, and says that nothing was charged', async () => {
	const media = { values: [{ url: 'http://firm.example/a.png' }, { url: 'C:\\a.png' }] };
	const parameters = { ...beta, prompt: empty, media, options: { duration: 99, ratio: '2:1' } };
	const details = await detailsOf(gateway, 'referenceVideo.create', { parameters });
	for (const problem of [/Prompt/, /Media 1/, /Media 2/, /Duration.*2 to 15/, /Aspect Ratio/]) {
		expect(details.message).toMatch(problem);
	}
	expect(details).toMatchObject({
		billed: 'no',
		retry_can_help: false,
		advice: expect.stringMatching(/Nothing was sent/),
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
	['referenceVideo.create', { ...beta, prompt: 'a'.repeat(5001) }],
	['referenceVideo.create', { mediaInput: 'json', mediaJson: '[]' }],
	['referenceVideo.create', { ...beta, media: { values: Array(6).fill({ url: link }) } }],
	[
		'referenceVideo.create',
		{ media: { values: [{ url: 'https://drive.google.com/file/d/1/view' }] } },
	],
	[
		'referenceVideo.create',
		{ media: { values: [{ url: link, voiceUrl: 'https://firm.example/a.mp3' }] } },
	],
	['referenceVideo.create', { options: { extraBody: '{ "a": ' } }],
	['referenceVideo.get', { taskId: empty }],
	['video.create', beta],
	['video.getContent', { videoId: '={{ undefined }}' }],
];
it.each(broken)('sends nothing for what surely cannot work: %s (%#)', async (name, parameters) => {
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

it('sends the other items when the node continues on errors', async () => {
	const options = { duration: '={{ $json.text === "Rain" ? 99 : 2 }}' };
	const settings = { onError: 'continueErrorOutput' } as const;
	const node = nodeFor('referenceVideo.create', { options }, settings);
	const result = await run(gateway, node, { input: itemsOf({ text: 'Rain' }, { text: 'Waves' }) });
	expect(result.items('Node', { output: 1 })).toMatchObject([
		{ json: { details: { billed: 'no' } }, pairedItem: { item: 0 } },
	]);
	expect(gateway.requests.map(({ body }) => body)).toMatchObject([{ input: { prompt: 'Waves' } }]);
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
