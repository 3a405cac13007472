import { mp4Of } from '../support/files/boxes';
import { answer, json, redirect, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { earlierJob } from '../support/workflows/earlierJobs';
import { logLines } from '../support/workflows/log';
import { waitForVideo } from '../support/workflows/workflows';
import {
	allOperations,
	continues,
	itemsOf,
	nodeFor,
	png,
	run,
	type Fields,
} from '../support/nodes';

const key = 'sk-promise/0123456789+abc';
const encodings = [
	key,
	encodeURIComponent(key),
	encodeURIComponent(encodeURIComponent(key)),
	Buffer.from(key).toString('base64'),
	key.toUpperCase(),
];
/** A part of the key in each encoding. */
const trace = /0123456789|MDEyMzQ1Njc4|AxMjM0NTY3|wMTIzNDU2/;

const { gateway } = withGateway({ isTimeSimulated: true, keys: { [key]: {} } });

const jobs = (): Fields => ({
	task_id: earlierJob(gateway, 'task', mp4Of(100)).id,
	id: earlierJob(gateway, 'video', mp4Of(100)).id,
});

it('sends the key to the gateway with each request, and to no host of files', async () => {
	const input = itemsOf(jobs());
	for (const name of allOperations) await run(gateway, nodeFor(name), { input });
	await run(gateway, waitForVideo(), { input });
	const files = gateway.requests.filter(({ host }) => host === 'storage');
	expect(files.length).toBeGreaterThanOrEqual(5);
	for (const { host, headers } of gateway.requests) {
		expect(headers.authorization).toBe(host === 'storage' ? undefined : `Bearer ${key}`);
	}
});

it.each(allOperations)('follows no redirect to another address with the key: %s', async (name) => {
	const other = await startServer(json({ id: 'a', data: [] }));
	const base = await startServer(redirect(307, `${other.url}/v1/models`));
	await run({ url: base.url, apiKey: key }, nodeFor(name, {}, continues), {
		input: itemsOf(jobs()),
	});
	expect(base.requests.length).toBeGreaterThan(0);
	for (const { headers } of other.requests) expect(headers.authorization).toBeUndefined();
});

it('redacts the key wherever a response repeats it: in outputs, errors and the log', async () => {
	for (const form of encodings) {
		const said = { content: `You are ${form}`, role: 'assistant' };
		const body = JSON.stringify({ choices: [{ message: said }], model: form });
		gateway.fault({ route: 'chat', action: 'answer', body });
		const result = await run(gateway, nodeFor('chat.complete', { simplify: false }));
		expect(result.status).toBe('success');
		const error = { message: `bad key ${form}`, code: form, param: form };
		const headers = { 'x-request-id': form };
		const refusal = { action: 'answer', status: 401, body: JSON.stringify({ error }) } as const;
		gateway.fault({ route: 'chat', ...refusal, headers });
		const failed = await run(gateway, nodeFor('chat.complete'));
		expect(failed.errorOf('Node')?.message).toContain('bad key');
		expect(JSON.stringify([result.data, failed.data])).not.toMatch(trace);
	}
	expect(JSON.stringify(await logLines())).not.toMatch(trace);
});

it.each(encodings)('neither uses nor shows a link that carries the key: %#', async (form) => {
	const storage = await startServer(answer(200, png));
	const data = [{ url: `${storage.url}/a.png?k=${form}` }];
	gateway.fault({ route: 'imageGenerate', action: 'answer', body: JSON.stringify({ data }) });
	const result = await run(gateway, nodeFor('image.generate'));
	expect(result.errorOf('Node')?.message).toMatch(/link carries the API key/);
	expect(storage.requests).toEqual([]);
	expect(JSON.stringify(result.data)).not.toMatch(trace);
});

it('takes a key that was pasted with Bearer, spaces and line breaks', async () => {
	const pasted = { url: gateway.url, apiKey: `  Bearer ${key}\n` };
	expect((await run(pasted, nodeFor('model.getAll'))).status).toBe('success');
});
