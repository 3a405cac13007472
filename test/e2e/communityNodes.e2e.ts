import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import manifest from '../../package.json';
import { Editor } from '../n8n/editor';
import { startN8n, type N8n } from '../n8n/n8n';
import { Owner } from '../n8n/owner';
import { startRegistry, type Registry } from '../n8n/registry';
import { packInto } from '../support/files/packed';
import { chain, createVideo, waitForVideo } from '../support/workflows/workflows';
import { openStage } from './support/stage';

describe('n8n without this package', () => {
	let folder: string;
	let registry: Registry;
	let n8n: N8n;

	beforeAll(async () => {
		folder = await mkdtemp(path.join(tmpdir(), 'n8n-'));
		registry = await startRegistry(packInto(folder).tarball, folder);
		n8n = await startN8n({ folder, env: registry.env });
	});
	afterAll(async () => {
		await n8n.stop();
		await registry.close();
		await rm(folder, { recursive: true, force: true });
	});

	it('installs it from npm by the dialog under “Community nodes”, and it works at once', async () => {
		const editor = await Editor.open(await Owner.of(n8n));
		const { page, url } = editor;
		await page.goto(`${url}/settings/community-nodes`);
		await page.getByRole('button', { name: /^Install/ }).click();
		const dialog = page.getByRole('dialog');
		await dialog.getByRole('textbox').fill(manifest.name);
		await dialog.getByText(/I understand the risks/).click();
		await dialog.getByRole('button', { name: 'Install' }).click();

		const card = page.getByTestId('community-package-card');
		await card.getByText(/^4 nodes/).waitFor();
		expect(await card.innerText()).toContain(`v${manifest.version}`);
		await editor.close();

		const stage = await openStage({}, n8n);
		const { status } = await stage.run(chain(createVideo(), waitForVideo()));
		expect(status).toBe('success');
		expect(registry.requested).toContain(`/${manifest.name}`);
		await stage.close();
	});
});
