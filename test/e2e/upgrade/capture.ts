/**
 * Stores executions of all kinds, as this release in one version of n8n has them, for `test/engine/waiting/upgrades.test.ts`:
 * `E2E_N8N=1.123.81 npm run capture`; only some of them: `npm run capture -- task video`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { version } from '../../../package.json';
import { startGateway } from '../../../gateway';
import type { StoredFixture } from '../../support/data/executionFixtures';
import { fixturesFolder } from '../../support/data/executionFixtures';
import { packInto } from '../../support/files/packed';
import { lackOf } from '../../n8n/features';
import { defaultVersion, nodeBinary, testedVersion } from '../../n8n/installation';
import { startN8n, type N8n } from '../../n8n/n8n';
import { Owner } from '../../n8n/owner';
import { kinds, storeAll } from './kinds';

async function main(): Promise<void> {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-capture-'));
	const gateway = await startGateway({ jobSeconds: Infinity });
	let n8n: N8n | undefined;
	try {
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
		const owner = await Owner.of(n8n);
		const credential = await owner.createCredential(gateway);
		const chosen = process.argv.slice(2);
		const names = Object.keys(kinds)
			.filter((name) => chosen.length === 0 || chosen.includes(name))
			// n8n 1 loses an open order when it is killed, so there is nothing to resume.
			.filter((name) => !kinds[name].hasNoResponse || !lackOf('openOrders'));
		const all = await storeAll(names, { owner, gateway, credential });
		for (const { name, kind, jobs, latest, workflowId } of all) {
			const { id } = await latest();
			const { data, workflowData, status, mode, waitTill } = await owner.request<Row>(
				'GET',
				`/executions/${id}`,
			);
			const fixture: StoredFixture = {
				id,
				status,
				mode,
				waitTill,
				...(kind.hasNoResponse && { orders: recordedOrders(folder, workflowId) }),
				jobs: jobs.map((job) => ({ id: job.id, kind: job.order.kind, prompt: job.order.prompt })),
				workflowData,
				data: JSON.parse(data) as unknown[],
			};
			// Stack traces contain the path where n8n is installed.
			const text = JSON.stringify(fixture).replace(
				/\/[^\s"():]*\/node_modules\//g,
				'/n8n/node_modules/',
			);
			if (text.includes(gateway.apiKey)) throw new Error(`${name} shows the key`);
			const file = `${version}-n8n-${testedVersion}-${name}.json`;
			writeFileSync(path.join(fixturesFolder, file), `${text}\n`);
			process.stdout.write(`${file}: ${status}, ${text.length} bytes\n`);
		}
	} finally {
		await n8n?.kill();
		await gateway.close();
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The entries of a workflow in n8n's store of processed items, as n8n stores them. */
function recordedOrders(folder: string, workflowId: string): string[] {
	const database = path.join(folder, '.n8n/database.sqlite');
	// Since version 22, Node.js itself reads SQLite. The default installation of n8n includes a newer one.
	const script = `const { DatabaseSync } = require('node:sqlite');
		const [database, workflowId] = process.argv.slice(1);
		const query = 'SELECT value FROM processed_data WHERE workflowId = ?';
		console.log(JSON.stringify(new DatabaseSync(database, { readOnly: true }).prepare(query).all(workflowId)));`;
	const node = nodeBinary(defaultVersion);
	const rows = JSON.parse(
		execFileSync(node, ['-e', script, database, workflowId], { encoding: 'utf8' }),
	) as Array<{ value: string }>;
	return rows.flatMap(({ value }) => (JSON.parse(value) as { data: string[] }).data);
}

type Row = Pick<StoredFixture, 'status' | 'mode' | 'waitTill' | 'workflowData'> & { data: string };

// The gateway may wait for connections of the n8n that was killed.
main().then(
	() => process.exit(0),
	(error: Error) => {
		process.stderr.write(`${error.stack}\n`);
		process.exit(1);
	},
);
