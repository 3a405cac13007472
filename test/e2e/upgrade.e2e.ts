import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startGateway, type Gateway } from '../../gateway';
import { packInto, packNext } from '../support/files/packed';
import { titledVideo } from '../support/data/titledVideo';
import { having, lackOf } from '../n8n/features';
import { defaultVersion, testedVersion } from '../n8n/installation';
import { startN8n, type N8n } from '../n8n/n8n';
import { bytesOf, itemsOf, Owner } from '../n8n/owner';
import { recommendedEnv } from '../n8n/queueSettings';
import { kinds, storeAll, type Stored } from './upgrade/kinds';
import { sha256 } from '../support/data/sha256';

/** From the older of the two versions to the newer one. If both are the same, n8n stays as it is. */
const [from, to] = [testedVersion, defaultVersion].sort((one, other) =>
	one.localeCompare(other, 'en', { numeric: true }),
);

/** Replaces n8n and this package in the same folder while executions of every kind are stored. */
describe(`an upgrade of n8n ${from} to ${to}, and of this package to its next version`, () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-upgrade-'));
	let gateway: Gateway;
	let n8n: N8n;
	let owner: Owner;
	const names = Object.keys(kinds).filter(
		(name) => !kinds[name].hasNoResponse || lackOf('openOrders') === undefined,
	);
	let all: Stored[] = [];
	/** Their states in an n8n that does not load the package. */
	let withoutPackage: unknown[];
	/** Finishes each execution, all at the same time: n8n resumes parked executions once a minute. */
	const endings = new Map<string, Promise<void>>();

	beforeAll(async () => {
		gateway = await startGateway({ jobSeconds: Infinity });
		const { tarball } = packInto(folder);
		n8n = await startN8n({ version: from, tarball, folder });
		owner = await Owner.of(n8n);
		const credential = await owner.createCredential(gateway);
		all = await storeAll(names, { owner, gateway, credential });
		// As a container is stopped: passes under way finish, and the rest is killed.
		await n8n.process.end('SIGTERM');
		// n8n may end and empty an execution that is due while it starts: docs/reliability.md, "Known limitations".
		const { N8N_DISABLED_MODULES: modules } = recommendedEnv('main', to);
		const env = modules ? { N8N_DISABLED_MODULES: modules } : undefined;
		// n8n 3 does not load a package that is not verified before it is told to.
		rmSync(path.join(folder, '.n8n/nodes'), { recursive: true });
		n8n = await startN8n({ version: to, folder, env });
		owner = await Owner.of(n8n);
		for (const stored of all) stored.owner = owner;
		// Each parked execution is due once a minute.
		await setTimeout(80_000);
		withoutPackage = await Promise.all(all.map(async (one) => (await one.latest()).status));
		await n8n.process.end('SIGTERM');
		n8n = await startN8n({ version: to, tarball: packNext(tarball), folder, env });
		owner = await Owner.of(n8n);
		for (const stored of all) endings.set(stored.name, settled(end(stored)));
	}, 500_000);
	afterAll(async () => {
		await n8n.kill();
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	});

	async function end(stored: Stored): Promise<void> {
		stored.owner = owner;
		stored.finish();
		if (stored.kind.status !== 'waiting') await stored.retry();
		// The videos that Retry has ordered.
		stored.finish();
		await stored.becomes(stored.kind.hasNoResponse ? 'error' : 'success');
	}

	it('without the package, parked executions stay parked', () => {
		const parked = all.flatMap(({ kind }, index) => (kind.status === 'waiting' ? [index] : []));
		expect(parked.length).toBeGreaterThan(3);
		expect(parked.map((index) => withoutPackage[index])).toEqual(parked.map(() => 'waiting'));
	});

	having('openOrders')(
		'after an upgrade, Retry does not place an order again whose outcome is unknown',
		async () => {
			const stored = all.find(({ kind }) => kind.hasNoResponse) as Stored;
			await endings.get(stored.name);
			const { data } = await owner.execution((await stored.latest()).id);
			expect(data.resultData.error?.message).toContain('This order was sent before');
			expect(stored.jobs).toHaveLength(1);
		},
		300_000,
	);

	it.each(names.filter((name) => !kinds[name].hasNoResponse))(
		'after an upgrade, all videos of the execution "%s" arrive, and each is charged once',
		async (name) => {
			const stored = all.find((one) => one.name === name) as Stored;
			await endings.get(name);
			const items = itemsOf(await owner.execution((await stored.latest()).id), 'After');
			const files = await Promise.all(
				items.map(async ({ binary }) => sha256(await bytesOf(binary?.data, owner))),
			);
			expect(files).toEqual(stored.prompts.map((prompt) => sha256(titledVideo(prompt))));
			const charged = gateway.ledger.map(({ job }) => job);
			const jobs = stored.jobs.map(({ id }) => id);
			expect(jobs).toHaveLength(stored.kind.videos);
			expect(charged.filter((job) => jobs.includes(job ?? '')).sort()).toEqual(jobs.sort());
		},
		300_000,
	);
});

/** The same promise, but its failure is not reported before it is awaited. */
function settled<T>(promise: Promise<T>): Promise<T> {
	promise.catch(() => undefined);
	return promise;
}
