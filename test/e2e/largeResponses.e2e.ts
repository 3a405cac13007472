import { setTimeout } from 'node:timers/promises';
import { byId, chain, modelGateway } from '../support/workflows/workflows';
import { withStage } from './support/stage';

const messages = { values: [{ role: 'user', content: 'Hi' }] };
const chat = { resource: 'chat', operation: 'complete', model: byId('chat-1'), messages };

describe('n8n goes on answering health checks', () => {
	const stage = withStage();

	/** Fails when one of the health checks that go on during this work fails. */
	const whileHealthy = async <Result>(work: Promise<Result>): Promise<Result> => {
		let isDone = false;
		const checking = (async () => {
			while (!isDone) {
				// Whoever restarts n8n because of a failed check does not wait for longer.
				const signal = AbortSignal.timeout(10_000);
				const headers = { connection: 'close' };
				const { status } = await fetch(`${stage.owner.url}/healthz`, { signal, headers });
				expect(status).toBe(200);
				await setTimeout(50);
			}
		})();
		const [result] = await Promise.all([work.finally(() => (isDone = true)), checking]);
		return result;
	};

	it('while a response of 200 MB of empty lists arrives, which ends in an error', async () => {
		const body = Buffer.alloc(200_000_000, '[],');
		body.write('[[');
		stage.gateway.fault({ route: 'chat', action: 'answer', body });
		const { data } = await whileHealthy(stage.run(chain(modelGateway(chat))));
		expect(data.resultData.error?.message).toContain(
			'has more lists, objects and texts in it than any response of the service needs',
		);
	});

	// n8n itself takes minutes to pass on an item of this size, so the response has more vectors than were ordered.
	it('while 140 MB of vectors arrive, which are read to their end', async () => {
		const vector = Array.from({ length: 3_072 }, (_, index) => Math.sin(index) / 500);
		const entry = JSON.stringify({ object: 'embedding', embedding: vector });
		const body = Buffer.from(`{"data":[${Array<string>(2_048).fill(entry).join(',')}]}`);
		stage.gateway.fault({ route: 'embedding', action: 'answer', body });
		const embed = {
			resource: 'embedding',
			operation: 'create',
			model: byId('embed-1'),
			input: 'a',
		};
		const { data } = await whileHealthy(stage.run(chain(modelGateway(embed))));
		expect(data.resultData.error?.message).toContain('has 2048 vectors for 1 texts');
	});
});
