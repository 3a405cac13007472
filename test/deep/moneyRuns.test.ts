import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { picture } from '../engine/support/samples';
import { chain, modelGateway } from '../engine/support/workflows';
import { startGateway, type Gateway } from '../gateway';
import { retryExecution, runWorkflow, SimulatedTime, type WorkflowRun } from '../harness';
import { isDeep } from '../support/depth';
import { nobody } from '../support/scriptedServer';
import {
	makesJob,
	faults,
	harmless,
	operations,
	scenarios,
	scenariosOf,
	type Scenario,
} from './moneyScenarios';

/** How many runs, and the seed that makes them the same every time; both can be set for a longer search. */
const allRuns = Number(process.env.MONEY_RUNS ?? 10_000);
const firstSeed = Number(process.env.MONEY_SEED ?? 20_261_121);
/** Which part of them is this one's; see jest.deep.config.js. */
const { part, parts } = (globalThis as { moneyRuns?: { part: number; parts: number } })
	.moneyRuns ?? {
	...{ part: 0, parts: 1 },
};
/** The gateway remembers every request. */
const runsOfGateway = 250;

/** A gateway, what is ordered of it, and what it bills. */
class Shop {
	private gateway!: Gateway;
	private media: IDataObject[] = [];
	private runs = 0;

	async start(): Promise<void> {
		const png = picture('red', 32, 24);
		this.gateway = await startGateway({ jobSeconds: Infinity, draw: async () => png });
		const url = this.gateway.addMedia('a.png', png, 'image/png');
		this.media = [{ type: 'reference_image', url }];
	}

	async close(): Promise<void> {
		await this.gateway.close();
	}

	/**
	 * @returns how many requests each fault hit
	 * @throws Error when money or a job was lost
	 */
	async check(given: Scenario): Promise<number[]> {
		if (++this.runs % runsOfGateway === 0) {
			await this.close();
			await this.start();
		}
		const { gateway, runs } = this;
		const texts = Array.from({ length: given.items }, (_, item) => `Run ${runs}, item ${item}.`);
		const { route } = given.operation;
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const armed = given.faults.map(({ fault, ...rule }) =>
			gateway.fault({ ...fault, ...rule, route }),
		);
		const made = await this.executions(given, texts);
		for (const fault of armed) fault.remove();

		const requests = gateway.requests.slice(before.requests);
		const paid = gateway.ledger.slice(before.charges).map(({ requestId, job }) => {
			const request = requests.find((candidate) => candidate.requestId === requestId);
			return { job, fault: request?.fault, body: JSON.stringify(request?.body) };
		});
		for (const text of texts) {
			const times = paid.filter(({ body }) => body.includes(`"${text}"`)).length;
			const isChosen = makesJob(given.operation) && given.resends;
			if (times > 1 && !isChosen) throw new Error(`"${text}" was paid ${times} times`);
		}
		const shown = made.map(({ data }) => JSON.stringify(data.resultData)).join();
		for (const { job, fault } of paid) {
			const hasReached = harmless.has(fault?.action);
			if (job && hasReached && !shown.includes(job)) throw new Error(`job ${job} is lost`);
		}
		return armed.map(({ hits }) => hits);
	}

	/** Runs the node, and again as long as it fails and the user has patience. The last one comes first. */
	private async executions(given: Scenario, texts: string[]): Promise<WorkflowRun[]> {
		const { gateway, media } = this;
		let stop: (() => void) | undefined;
		let left = given.stopAfter;
		const count = () => {
			if (left !== undefined && --left === 0) stop?.();
		};
		const settings = {
			credentials: { modelGatewayApi: credentialOf(given, gateway) },
			onStart: (cancel: () => void) => void (stop = cancel),
		};
		gateway.on('request', count);
		try {
			const input = texts.map((text) => ({ json: { text, media } }));
			const made = [await runWorkflow(chain(nodeOf(given)), { ...settings, input })];
			for (let retries = 0; retries < given.retries && made[0].status !== 'success'; retries++) {
				made.unshift(await retryExecution(made[0], settings));
			}
			return made;
		} finally {
			gateway.off('request', count);
		}
	}
}

function nodeOf({ operation, resends, parallel, onError, retryOnFail }: Scenario) {
	const options = {
		parallelRequests: parallel,
		...(makesJob(operation) && { ifAnswerLost: resends ? 'resend' : 'stop' }),
		...(operation.route === 'embedding' && { batchSize: 2 }),
		...(operation.route === 'referenceVideoCreate' && { duration: 2 }),
	};
	return modelGateway(
		{ ...operation.parameters, options },
		{ name: 'Paid', onError, retryOnFail, maxTries: 3, waitBetweenTries: 1 },
	);
}

function credentialOf({ hasBackup, isDown }: Scenario, { url, backupUrl, apiKey }: Gateway) {
	const credential: Record<string, string> = { apiKey, baseUrl: url };
	if (hasBackup) Object.assign(credential, { backupUrl, ...(isDown && { baseUrl: nobody }) });
	return credential;
}

describe('money', () => {
	const shop = new Shop();
	let time: SimulatedTime;

	beforeAll(async () => {
		time = new SimulatedTime(8);
		await shop.start();
	});
	afterAll(async () => {
		await shop.close();
		await time.end();
	});

	const inSample = isDeep ? it.skip : it;
	const inFull = isDeep ? it : it.skip;
	const promise = 'is paid at most once for an item, and no job that we heard of is lost';

	inSample.each(operations)(
		`${promise}: $name, at each fault, without and with Stop`,
		async (operation) => {
			for (const [index, fault] of faults.entries()) {
				for (const stopAfter of [undefined, 2]) {
					const property = fc.asyncProperty(scenariosOf(operation, fault), async (given) => {
						const [hits] = await shop.check({ ...given, stopAfter });
						// Stop may come first.
						if (!stopAfter) expect(hits).toBeGreaterThan(0);
					});
					await fc.assert(property, { numRuns: 1, seed: firstSeed + index });
				}
			}
		},
	);

	const numRuns = Math.ceil(allRuns / parts);
	const seed = firstSeed + part;
	inFull(
		`${promise}: ${numRuns} runs, seed ${seed}`,
		async () => {
			const property = fc.asyncProperty(scenarios, async (given) => void (await shop.check(given)));
			await fc.assert(property, { numRuns, seed });
		},
		20 * 60_000,
	);
});
