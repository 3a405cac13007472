import fc from 'fast-check';
import { startGateway, type Gateway } from '../../gateway';
import { SimulatedTime } from '../harness';
import { picture } from '../support/data/samples';
import { trustCertificate } from '../support/http/breakingTls';
import type { Sent } from './money/checks';
import { faults, operations, scenarios, scenariosOf, type Scenario } from './money/model';
import { idempotencyHeaderName, keys, MoneyRun } from './money/run';

/** The number of runs, and the seed that makes them reproducible. Both can be set for a longer search. */
const allRuns = Number(process.env.MONEY_RUNS ?? 4_000);
const firstSeed = Number(process.env.MONEY_SEED ?? 20_261_121);
/** Which part of the runs this file has; see jest.config.js. */
const [part, parts] = [Number(process.env.PART ?? 0), Number(process.env.PARTS ?? 1)];
/** A gateway keeps every request in memory, so it is replaced after this many runs. */
const runsOfGateway = 100;

describe('random runs of paid operations', () => {
	const png = picture('red', 32, 24);
	let time: SimulatedTime;
	let distrust: () => void;
	let gateway: Gateway;
	let runs = 0;

	const start = async () => {
		gateway = await startGateway({
			jobSeconds: Infinity,
			idempotencyHeader: idempotencyHeaderName,
			draw: async () => png,
			keys: Object.fromEntries(keys.map((key) => [key, {}])),
		});
	};
	beforeAll(async () => {
		time = new SimulatedTime(4);
		distrust = trustCertificate();
		await start();
	});
	afterAll(async () => {
		distrust();
		await gateway.close();
		await time.end();
	});

	const check = async (given: Scenario): Promise<Sent[]> => {
		if (++runs % runsOfGateway === 0) {
			await gateway.close();
			await start();
		}
		const url = gateway.addMedia('a.png', png, 'image/png');
		return await new MoneyRun(gateway, [{ type: 'reference_image', url }], runs, given).check();
	};
	/** Shrinking takes much longer than all runs. */
	const endOnFailure = true;

	const promise = 'charge each item at most once, keep to the limits, and lose no job and no key';
	// Distributed over the parts, of which the last have none.
	for (const operation of operations.filter((_, index) => index % parts === part)) {
		it(`${promise}: ${operation.name}, at each fault, without and with Stop`, async () => {
			for (const [index, fault] of faults.entries()) {
				for (const stop of [undefined, { at: 'request', times: 2 } as const]) {
					const property = fc.asyncProperty(scenariosOf(operation, fault, stop), async (given) => {
						const sent = await check(given);
						if (!stop)
							expect(sent.map(({ fault: met }) => met)).toContainEqual(
								expect.objectContaining(fault),
							);
					});
					await fc.assert(property, { numRuns: 1, seed: firstSeed + index, endOnFailure });
				}
			}
		});
	}

	const numRuns = Math.ceil(allRuns / parts);
	const seed = firstSeed + part;
	it(
		`${promise}: ${numRuns} runs, seed ${seed}`,
		async () => {
			const property = fc.asyncProperty(scenarios, async (given) => void (await check(given)));
			await fc.assert(property, { numRuns, seed, endOnFailure });
		},
		60 * 60_000,
	);
});
