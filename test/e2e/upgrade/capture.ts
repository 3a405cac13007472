/**
 * Stores executions of all kinds as they are in this release and a version of n8n, for `test/engine/upgrades.test.ts`:
 * `E2E_N8N=1.123.81 npm run capture`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { version } from '../../../package.json';
import { startGateway } from '../../gateway';
import type { StoredFixture } from '../../support/executionFixtures';
import { fixturesFolder } from '../../support/executionFixtures';
import { packInto } from '../../support/packed';
import { testedVersion } from '../support/installation';
import { startN8n, type N8n } from '../support/n8n';
import { Owner } from '../support/owner';
import { kinds, Stored } from './kinds';

async function main(): Promise<void> {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-capture-'));
	const gateway = await startGateway({ jobSeconds: Infinity });
	let n8n: N8n | undefined;
	try {
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
		const owner = await Owner.of(n8n);
		const credential = await owner.createCredential(gateway);
		const stage = { owner, gateway, credential };
		const all: Stored[] = [];
		for (const name of Object.keys(kinds)) all.push(await Stored.start(name, stage));
		await Promise.all(all.map(async (stored) => await stored.isStored()));
		for (const { name, jobs, latest } of all) {
			const { id } = await latest();
			const { data, workflowData, status, mode, waitTill } = await owner.request<Row>(
				'GET',
				`/executions/${id}`,
			);
			const fixture: StoredFixture = {
				...{ id, status, mode, waitTill },
				jobs: jobs.map((job) => ({ id: job.id, kind: job.order.kind, prompt: job.order.prompt })),
				workflowData,
				data: JSON.parse(data) as unknown[],
			};
			// Where n8n was installed is told by stack traces.
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

type Row = Pick<StoredFixture, 'status' | 'mode' | 'waitTill' | 'workflowData'> & { data: string };

// The gateway may wait for connections of the n8n that was killed.
main().then(
	() => process.exit(0),
	(error: Error) => {
		process.stderr.write(`${error.stack}\n`);
		process.exit(1);
	},
);
