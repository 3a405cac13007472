import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startGateway, type Gateway } from '../gateway';
import { sampleVideo } from '../engine/support/samples';
import { packInto } from '../support/packed';
import { Editor } from './support/editor';
import { readyExample } from './support/examples';
import { startN8n, type N8n } from './support/n8n';
import { Owner } from './support/owner';

describe('a parked wait', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-park-'));
	const filesFolder = path.join(folder, '.n8n-files');
	let gateway: Gateway;
	let n8n: N8n;

	beforeAll(async () => {
		gateway = await startGateway({ jobSeconds: Infinity });
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
	}, 180_000);
	afterAll(async () => {
		await n8n?.stop();
		await gateway?.close();
		rmSync(folder, { recursive: true, force: true });
	});

	const until = async (isSo: () => Promise<boolean> | boolean) => {
		while (!(await isSo())) await setTimeout(250);
	};

	it('goes on after n8n was killed, and saves each video once', async () => {
		let owner = await Owner.of(n8n);
		await owner.createCredential(gateway);
		const example = await readyExample('parked-videos.json', { gateway, filesFolder });
		const editor = await Editor.open(owner);
		await editor.importWorkflow(example);
		await editor.takePicture('parked');
		const panel = await editor.openNode('Wait for Video');
		expect(await panel.innerText()).toContain('Lead Still Running back to the input of this node');
		await editor.takePicture('park-panel');
		await editor.closeNode();
		await editor.page.getByTestId('execute-workflow-button').click();
		const { workflowId } = editor;
		await until(async () => (await owner.executionsOf({ id: workflowId })).length > 0);
		const [{ id }] = await owner.executionsOf({ id: workflowId });
		await until(async () => (await owner.execution(id)).status === 'waiting');
		await editor.close();
		await n8n.kill();
		const video = await sampleVideo();
		const [first, ...others] = gateway.jobs.list();
		gateway.jobs.complete(first.id, video);

		// Down until after the next poll was due.
		await setTimeout(15_000);
		n8n = await startN8n({ folder });
		owner = await Owner.of(n8n);
		await until(() => readdirSync(filesFolder).length === 1);
		for (const job of others) gateway.jobs.complete(job.id, video);
		// As it starts, n8n takes what it has just taken up for crashed, until the pass is stored over that.
		await until(async () => (await owner.execution(id)).status !== 'crashed');
		const execution = await owner.ended(id, 150);

		expect(execution.status).toBe('success');
		expect(readdirSync(filesFolder).sort()).toEqual([
			'Desk Lamp.mp4',
			'Running Shoe.mp4',
			'Travel Mug.mp4',
		]);
		const saves = execution.data.resultData.runData['Save Video'];
		expect(saves.flatMap(({ data }) => data?.main[0] ?? [])).toHaveLength(3);
		expect(gateway.ledger).toHaveLength(3);
	}, 300_000);
});
