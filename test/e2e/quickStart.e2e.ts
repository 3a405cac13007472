import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator } from '../n8n/editor';
import { openStage, type Stage } from './support/stage';

const readme = readFileSync(path.join(__dirname, '../../README.md'), 'utf8');

/** The workflow that README.md offers for pasting. */
const workflowText = /^```json\n(.*?)^```/ms.exec(readme)?.[1] ?? '';

describe('the quick start of README.md', () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage();
		await stage.owner.removeCredentials();
	});
	afterAll(async () => await stage.close());

	it('leads from an empty canvas and no credential to a video in 8 clicks, and orders one', async () => {
		const { gateway } = stage;
		const editor = await stage.editor();
		const { page } = editor;
		await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
		await page.goto(`${editor.url}/workflow/new`);
		await page.getByTestId('canvas-add-button').waitFor();
		await page.evaluate(async (text) => await navigator.clipboard.writeText(text), workflowText);

		let clicks = 0;
		const click = async (what: Locator, count = 1) => {
			await what.click({ clickCount: count });
			clicks += count;
		};
		await page.keyboard.press('Control+v');
		await editor.node('Wait for Video').waitFor();
		await click(editor.node('Create Video'), 2);
		await click(page.getByTestId('ndv').getByText('Connect to Model Gateway'));
		for (const [field, value] of Object.entries({ apiKey: gateway.apiKey, baseUrl: gateway.url })) {
			await page.getByTestId(`parameter-input-${field}`).locator('input').fill(value);
		}
		await click(page.getByTestId('credential-save-button'));
		await page.getByText('Added this credential to 1 other node').waitFor();
		await click(page.getByTestId('ndv-close-button'));
		await page.getByTestId('ndv').waitFor({ state: 'hidden' });
		clicks++;
		expect(await editor.execute()).toBe('Workflow executed successfully');
		expect(clicks).toBeLessThanOrEqual(8);
		console.log(`From an empty canvas to a video: ${clicks} clicks and 2 typed fields`);

		await editor.openNode('Wait for Video');
		await click(page.getByTestId('radio-button-binary'));
		await page.getByText('video/mp4').waitFor();
		expect(gateway.ledger).toMatchObject([{ kind: 'video', model: 'vid-3.1' }]);
		expect(editor.complaints).toEqual([]);
	});
});
