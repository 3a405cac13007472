import type { RunOptions } from '../harness';
import { answer, startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import { continues, nodeFor, run, type Address } from '../support/nodes';

const key = 'sk-streamed-0123456789';

// Slow enough for the pieces to arrive one by one.
const { gateway } = withGateway({ tokenMilliseconds: 5, keys: { [key]: {} } });

type Chunk = Parameters<NonNullable<RunOptions['onChunk']>>[0];
const stream = async (to: Address = gateway, settings = {}) => {
	const chunks: Chunk[] = [];
	const node = nodeFor('chat.complete', { options: { stream: true } }, settings);
	const result = await run(to, node, { onChunk: (chunk) => void chunks.push(chunk) });
	const texts = chunks.flatMap(({ type, content }) => (type === 'item' ? [content ?? ''] : []));
	return { result, chunks, texts, item: result.items('Node')[0].json };
};

/** Writes these texts as a stream of the service. */
const written = async (texts: string[], last = 'data: [DONE]\n\n') => {
	const events = texts.map((content) => {
		return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
	});
	const type = { 'content-type': 'text/event-stream' };
	const { url } = await startServer(answer(200, events.join('') + last, type));
	return { url, apiKey: key };
};

it('gives the same item as without streaming, and shows the text piece by piece', async () => {
	const { chunks, texts, item } = await stream();
	const plain = (await run(gateway, nodeFor('chat.complete'))).items('Node')[0].json;
	expect(item).toEqual({ ...plain, request_id: item.request_id });
	expect([chunks.at(0)?.type, chunks.at(-1)?.type]).toEqual(['begin', 'end']);
	expect(texts.length).toBeGreaterThan(1);
	expect(texts.join('')).toBe(plain.text);
});

it('redacts the key in what it shows, wherever the service splits it', async () => {
	const { texts, item } = await stream(await written(['It is ', ...key, '.']));
	expect(item.text).toBe('It is ***.');
	expect(texts.join('')).toBe('It is ***.');
});

it('keeps the text so far when a stream breaks off, and does not ask again', async () => {
	const breaks = gateway.fault({ route: 'chat', action: 'breakOff', after: 3 });
	gateway.fault({ route: 'chat', action: 'breakOff', after: 3, code: 'upstream_error' });
	for (let time = 0; time < 2; time++) {
		const { item, texts } = await stream(gateway, continues);
		expect(item).toMatchObject({
			error: expect.stringMatching(/\w/),
			details: { partial_text: texts.join(''), billed: expect.stringMatching(/unknown|yes/) },
		});
	}
	expect(breaks.hits).toBe(1);
	expect(gateway.requests).toHaveLength(2);
});

it('reports a refusal in a stream like one without streaming', async () => {
	const error = { message: 'No credit', type: 'billing', param: 'model', code: 'quota_exceeded' };
	const refused = await written([], `data: ${JSON.stringify({ error })}\n\n`);
	const { item } = await stream(refused, continues);
	expect(item.details).toMatchObject({ ...error, message: expect.stringMatching(/No credit/) });
	expect(item.details).toMatchObject({ billed: 'no' });
});
