import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from '../n8n/editor';
import { testedVersion } from '../n8n/installation';
import { withEditor, withStage } from './support/stage';

const isN8n1 = testedVersion.startsWith('1.');

const read = (file: string) => readFileSync(file, 'utf8');
const readme = read(path.join(__dirname, '../../README.md'));

/** The workflow that README.md offers for pasting. */
const workflowText = /^```json\n(.*?)^```/ms.exec(readme)?.[1] ?? '';

describe('from an empty canvas, without a credential', () => {
	const stage = withStage();
	const editor = withEditor(stage);
	let clicks: number;

	beforeAll(async () => {
		await editor.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
	});
	beforeEach(async () => {
		await stage.owner.removeCredentials();
		clicks = 0;
	});
	afterEach(() => {
		expect(editor.complaints).toEqual([]);
	});

	const click = async (what: Locator, count = 1) => {
		await what.click({ clickCount: count });
		clicks += count;
	};

	/** Pastes a workflow, opens one of its nodes and creates the credential there. n8n adds it to the other nodes. */
	async function paste(text: string, node: string) {
		const { page, url } = editor;
		await page.goto(`${url}/workflow/new`);
		await page.getByTestId('canvas-add-button').waitFor();
		await page.evaluate(async (copied) => await navigator.clipboard.writeText(copied), text);
		await page.keyboard.press('Control+v');
		await click(editor.node(node), 2);
		if (isN8n1) {
			await click(page.getByTestId('node-credentials-select'));
			await click(page.getByTestId('node-credentials-select-item-new'));
		} else {
			await click(page.getByTestId('ndv').getByText('Connect to Model Gateway'));
		}
		// n8n refuses to save a credential before it has given it a name, which takes a request.
		await page
			.getByTestId('credential-name')
			.filter({ hasText: 'Model Gateway account' })
			.waitFor();
		const { apiKey, url: baseUrl } = stage.gateway;
		for (const [field, value] of Object.entries({ apiKey, baseUrl })) {
			await page.getByTestId(`parameter-input-${field}`).locator('input').fill(value);
		}
		await click(page.getByTestId('credential-save-button'));
		await page.getByText(/Added this credential to \d other node/).waitFor();
		if (isN8n1) await click(page.locator('.el-dialog__headerbtn').filter({ visible: true }));
		await click(page.getByTestId(isN8n1 ? 'back-to-canvas' : 'ndv-close-button'));
		await page.getByTestId('ndv').waitFor({ state: 'hidden' });
	}

	it('the quick start of README.md leads to a video in 8 clicks, and orders one', async () => {
		const { page } = editor;
		const { gateway } = stage;
		await paste(workflowText, 'Create Video');
		clicks++;
		expect(await editor.execute()).toBe('Workflow executed successfully');
		expect(clicks).toBeLessThanOrEqual(8);
		console.log(`From an empty canvas to a video: ${clicks} clicks and 2 typed fields`);

		await editor.openNode('Wait for Video');
		await click(page.getByTestId('radio-button-binary'));
		await page.getByText('video/mp4').waitFor();
		expect(gateway.ledger).toMatchObject([{ kind: 'video', model: 'vid-3.1' }]);
	});
});
