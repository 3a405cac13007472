import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import path from 'node:path';
import { operations } from '../../nodes/ModelGateway/resources';
import { requestIdHeader } from '../../nodes/shared/service/protocol/endpoints';
import type { ErrorRecord } from '../../nodes/shared/n8n/errors/errorRecord';
import { picture, sampleVideo } from '../support/data/samples';
import { chain } from '../support/workflows/workflows';
import { startGateway, type FaultHandle, type Gateway, type Route } from '../../gateway';
import { resumeToEnd, runWorkflow, SimulatedTime, type WorkflowRun } from '../harness';
import { forward } from '../support/http/proxy';
import {
	answer,
	nobody,
	silence,
	startServer,
	type ScriptedServer,
} from '../support/http/scriptedServer';
import { faults, type Address, type Fault } from './faults/faults';
import { faultPage, type Duration, type Outcome } from './faults/page';
import { routes, type FaultRoute } from './faults/routes';

const key = 'sk-matrix-0123456789abcdef';
const page = path.join(__dirname, 'faults.md');

const cells = faults.flatMap((fault) =>
	// A fault of an address does not pass.
	(fault.addresses ? (['always'] as const) : (['once', 'always'] as const)).map((duration) => ({
		fault,
		duration,
		title: `${fault.name}, ${duration}`,
	})),
);

interface Cell {
	route: FaultRoute;
	fault: Fault;
	duration: Duration;
}

/** Servers that give no response of a gateway. */
type BadServers = Record<'silent' | 'page', string>;

/** How a cell is arranged. */
interface Armed {
	credential: Record<string, string>;
	armed?: FaultHandle;
	/** The route whose requests count, if it is not that of the cell. */
	countedRoute?: Route;
}

interface Seen extends Outcome {
	record?: ErrorRecord;
	run: WorkflowRun;
	elsewhere: ScriptedServer;
}

describe('the matrix of faults and routes', () => {
	let time: SimulatedTime;
	let video: Uint8Array;
	let gateway: Gateway;
	it('has a route for each operation', () => {
		const named = routes.map(({ name }) => name.split(',')[0]);
		const wanted = operations.map(({ resource, value }) => `${resource.value}.${value}`);
		expect(wanted.filter((name) => !named.includes(name))).toEqual([]);
	});

	const notHttp = createServer((socket) => socket.once('data', () => socket.end('What?')));
	const outcomes: Array<Cell & { outcome: Outcome }> = [];

	beforeAll(async () => {
		video = await sampleVideo();
		await listening(notHttp);
	});
	afterAll(() => void notHttp.close());

	/** The address in the credential, or in the link to a file. */
	const placeOf = (address: Address, good: string, bad: BadServers): string =>
		({
			good,
			...bad,
			closed: nobody,
			unknown: 'https://gateway.invalid',
			noTls: addressOf(notHttp).replace('http:', 'https:'),
		})[address];

	/** A proxy that disturbs the responses of one route. */
	const startProxy = async (target: string, { fault, duration }: Cell, route: Route) => {
		let left = duration === 'once' ? 1 : Infinity;
		const { url } = await startServer(
			forward(target, ({ [requestIdHeader]: id }) => {
				const forwarded = gateway.requests.find(({ requestId }) => requestId === id);
				return forwarded?.route === route && left-- > 0 ? fault.proxy : undefined;
			}),
		);
		return url;
	};

	/** The proxy is before the gateway, or before the storage host if the route is a file. */
	const armProxy = async (cell: Cell): Promise<Armed> => {
		const { leader, route, repetition } = cell.route;
		if (!leader) {
			const baseUrl = await startProxy(gateway.url, cell, route);
			return { credential: { apiKey: key, baseUrl } };
		}
		const [bytes, type] =
			repetition === 'fetch' ? [picture('red', 32, 24), 'image/png'] : [video, 'video/mp4'];
		const { pathname } = new URL(gateway.addMedia('file', bytes, type));
		const countedRoute = 'media';
		const link = `${await startProxy(gateway.storageUrl, cell, countedRoute)}${pathname}`;
		const body = JSON.stringify(leader.answer(link));
		const lead = { route: leader.route, action: 'answer', accepted: true, body } as const;
		return {
			credential: { apiKey: key, baseUrl: gateway.url },
			countedRoute,
			armed: gateway.fault({ ...lead, times: Infinity }),
		};
	};

	const arm = async (cell: Cell, elsewhere: string, bad: BadServers): Promise<Armed> => {
		const { route, fault, duration } = cell;
		if (fault.proxy) return await armProxy(cell);
		const times = duration === 'once' ? 1 : Infinity;
		const { url, backupUrl, storageUrl } = gateway;
		const credential: Record<string, string> = { apiKey: key, baseUrl: url };
		if (fault.action) {
			const action = fault.action({ elsewhere, isFile: route.leader !== undefined });
			return { credential, armed: gateway.fault({ ...action, route: route.route, times }) };
		}
		const { base, backup } = fault.addresses;
		if (route.leader && backup === undefined) {
			const link = `${placeOf(base, storageUrl, bad)}/v.mp4`;
			const body = JSON.stringify(route.leader.answer(link));
			const lead = { route: route.leader.route, action: 'answer', accepted: true, body } as const;
			return { credential, armed: gateway.fault({ ...lead, times }) };
		}
		credential.baseUrl = placeOf(base, url, bad);
		if (backup) credential.backupUrl = placeOf(backup, backupUrl, bad);
		return { credential };
	};

	const see = async (cell: Cell): Promise<Seen> => {
		const html = { 'content-type': 'text/html' };
		const elsewhere = await startServer(answer(200, '<html>Elsewhere</html>', html));
		const silent = await startServer(silence);
		const proxy = await startServer(answer(502, '<h1>Bad gateway</h1>', html));
		time.patience = cell.fault.isSlow ? 100 : 20;
		const {
			credential,
			armed,
			countedRoute = cell.route.route,
		} = await arm(cell, elsewhere.url, { silent: silent.url, page: proxy.url });
		const before = { requests: gateway.requests.length, charges: gateway.ledger.length };
		const data = {
			mimeType: 'image/png',
			fileName: 'a.png',
			data: Buffer.from(picture('red', 32, 24)).toString('base64'),
		};
		const json = cell.route.fields?.(gateway, video) ?? {};
		const started = await runWorkflow(chain(cell.route.node), {
			credentials: { modelGatewayApi: credential },
			input: [{ json, binary: { data } }],
		});
		const run = await resumeToEnd(started);
		armed?.remove();
		await time.connectionsEnded();

		const failed = run.items('Call', { output: 1 })[0]?.json.details as unknown;
		const record = failed as ErrorRecord | undefined;
		const requests = gateway.requests.slice(before.requests);
		return {
			requests: requests.filter(({ route }) => route === countedRoute).length,
			charges: gateway.ledger.length - before.charges,
			...(record && { error: { status: record.status, billed: record.billed } }),
			...(hintsOf(run).some((hint) => /\btwice\b/.test(hint)) && { hintsTwice: true as const }),
			record,
			run,
			elsewhere,
		};
	};

	describe.each(routes)('$name', (route) => {
		beforeAll(async () => {
			time = new SimulatedTime();
			gateway = await startGateway({
				keys: { [key]: {} },
				jobSeconds: Infinity,
				draw: async () => picture('red', 32, 24),
			});
		});
		afterAll(async () => {
			await gateway.close();
			await time.end();
		});

		it.each(cells)(
			'ends in an item or a good error when it meets: $title',
			async ({ fault, duration }) => {
				const cell = { route, fault, duration };
				const { record, run, elsewhere, ...outcome } = await see(cell);
				outcomes.push({ ...cell, outcome });

				// The service charges for each response that it has sent, also when a proxy discards it.
				if (!fault.proxy)
					expect(outcome.charges).toBeLessThanOrEqual(record?.billed === 'no' ? 0 : 1);
				expect(run.items('Call', { output: 0 }).length > 0).toBe(record === undefined);
				if (record) expectGoodRecord(record, route);
				// The key went nowhere else, and is in nothing that is stored.
				const { stringify } = await import('flatted');
				expect(stringify(run.data)).not.toContain(key);
				expect(JSON.stringify(elsewhere.requests)).not.toContain(key);
				for (const { host, headers, url } of gateway.requests) {
					expect(url).not.toContain(key);
					if (host === 'storage') expect(headers.authorization).toBeUndefined();
				}
			},
		);
	});

	it('each cell ends as test/deep/faults.md says', () => {
		// A run of single cells sees only those.
		if (outcomes.length < routes.length * cells.length) return;
		const seen = faultPage(outcomes);
		if (process.env.UPDATE_DOCS) writeFileSync(page, seen);
		// UPDATE_DOCS=1 npm run test:deep -- faultMatrix
		expect(readFileSync(page, 'utf8')).toBe(seen);
	});
});

const hintsOf = ({ data }: WorkflowRun): string[] =>
	data.resultData.runData.Call.flatMap(({ hints = [] }) => hints.map(({ message }) => message));

function expectGoodRecord(record: ErrorRecord, { name, leader }: FaultRoute): void {
	const { message, advice, status, billed } = record;
	expect(message).toMatch(/^\S.{10,600}\S$/);
	expect(advice.length).toBeGreaterThan(15);
	if (status >= 400) expect(record.raw_body).toBeDefined();
	if (billed === 'unknown')
		expect(advice).toMatch(/charged|may have been accepted|raw_body|partial_text/);
	// The error of a wait or a download names the job.
	const isVideo = name.startsWith('Wait') || (leader && !name.includes('image'));
	if (isVideo && billed !== 'no') expect(record.job?.id).toMatch(/^(task|video)_/);
}

async function listening(server: Server): Promise<string> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return addressOf(server);
}

function addressOf(server: Server): string {
	return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
