import {
	embed,
	vectorsOf,
	type EmbeddedBatch,
} from '../../../../nodes/shared/service/embeddings/embed';
import { error } from '../../../support/workflows/calls';
import { failureOf, gatewayTo } from '../../../support/workflows/gatewayWorld';
import { json, startServer, type Reply } from '../../../support/http/scriptedServer';

const fields = { model: 'embed-1' };

/** A vector of the first letter's code for each text, after a number of milliseconds. */
const vectors =
	(size: number, delay = 0): Reply =>
	(response, request) => {
		const { input } = JSON.parse(request.body) as { input: string[] };
		const vectorOf = (text: string) => Array<number>(size).fill(text.charCodeAt(0));
		const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }));
		setTimeout(() => json({ data })(response, request), delay);
	};

const kept = (size: number, ...positions: number[]): EmbeddedBatch => ({
	fields: {},
	entries: [],
	positions,
	vectors: positions.map(() => Array.from({ length: size }, () => 0)),
});

describe('the embeddings of a list', () => {
	it('come in the order of the texts, whichever response arrives first', async () => {
		const server = await startServer(vectors(2, 60), vectors(2, 30), vectors(2));
		const batches = await embed(gatewayTo(server.url), ['a', 'b', 'c', 'd', 'e'], {
			fields,
			batchSize: 2,
		});
		expect(batches.map(({ positions }) => positions)).toEqual([[0, 1], [2, 3], [4]]);
		expect(vectorsOf(batches).map(([first]) => first)).toEqual([97, 98, 99, 100, 101]);
	});

	it('have the length of the batches that an earlier try kept', async () => {
		const server = await startServer(vectors(3));
		const work = async (size: number) =>
			await embed(gatewayTo(server.url), ['a', 'b'], {
				fields,
				batchSize: 1,
				batches: [kept(size, 0)],
			});
		expect(await work(3)).toHaveLength(2);
		expect((await failureOf(work(2))).message).toContain('Could not create the embeddings');
		expect(server.requests.map(({ body }) => JSON.parse(body).input)).toEqual([['b'], ['b']]);
	});

	it('end with the first refusal: no more is sent, and what is in flight is aborted', async () => {
		let isAborted = false;
		const stalls: Reply = (response) => response.on('close', () => (isAborted = true));
		const server = await startServer(error(400, { code: 'invalid_prompt' }), stalls);
		const texts = Array.from({ length: 9 }, () => 'a');
		await failureOf(embed(gatewayTo(server.url), texts, { fields, batchSize: 1 }));
		await server.idle();
		expect(isAborted).toBe(true);
		expect(server.requests.length).toBeLessThanOrEqual(5);
	});

	it('let requests in flight finish when their batches are kept', async () => {
		let refused = () => {};
		const afterRefusal = new Promise<void>((resolve) => (refused = resolve));
		const server = await startServer(
			(response, request) => {
				// The client closes the connection once it has read the response.
				response.socket?.once('close', refused);
				error(400, { code: 'invalid_prompt' })(response, request);
			},
			(response, request) => void afterRefusal.then(() => vectors(2)(response, request)),
		);
		const batches: EmbeddedBatch[] = [];
		const texts = Array.from({ length: 9 }, () => 'a');
		await failureOf(embed(gatewayTo(server.url), texts, { fields, batchSize: 1, batches }));
		expect(batches.map(({ positions }) => positions[0]).sort()).toEqual([1, 2, 3, 4]);
		expect(server.requests).toHaveLength(5);
	});
});
