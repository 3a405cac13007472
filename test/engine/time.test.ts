import { startGateway, type Gateway } from '../gateway';
import { runWorkflow, SimulatedTime } from '../harness';
import { byId, chain, credentialFor, modelGateway } from './support/workflows';

/** In milliseconds: the service's limit for an answer, and the first wait between two tries at most. */
const tenMinutes = 600_000;
const longestFirstWait = 1_250;

describe('simulated time', () => {
	let time: SimulatedTime;
	let gateway: Gateway;
	let begun: number;

	beforeEach(async () => {
		// Longer than the pause between two drips.
		time = new SimulatedTime(100);
		gateway = await startGateway();
		begun = Date.now();
	});
	afterEach(async () => {
		await gateway.close();
		await time.end();
	});

	const chat = modelGateway({
		...{ resource: 'chat', operation: 'complete', model: byId('chat-1') },
		messages: { values: [{ role: 'user', content: 'Hello' }] },
	});
	const run = async () => await runWorkflow(chain(chat), { credentials: credentialFor(gateway) });

	it('passes over a silent connection, as far as the next timer', async () => {
		gateway.fault({ route: 'chat', action: 'stall' });
		expect((await run()).status).toBe('success');
		expect(gateway.requests).toHaveLength(2);
		const passed = Date.now() - begun;
		expect(passed).toBeGreaterThanOrEqual(tenMinutes);
		expect(passed).toBeLessThanOrEqual(tenMinutes + longestFirstWait);
	});

	it('stands still while an answer trickles in, however slowly', async () => {
		gateway.fault({ route: 'chat', action: 'drip', bytesPerSecond: 200 });
		expect((await run()).status).toBe('success');
		expect(gateway.requests).toHaveLength(1);
		expect(Date.now() - begun).toBe(0);
	});
});
