import { setTimeout } from 'node:timers/promises';
import type { Editor } from '../n8n/editor';
import { openStage, type Stage } from './support/stage';
import { chain, modelGateway } from '../support/workflows/workflows';

describe('the credential in the editor', () => {
	let stage: Stage;
	let editor: Editor;

	beforeAll(async () => {
		stage = await openStage();
		editor = await stage.editor();
		const workflow = await stage.create(chain(modelGateway()));
		await editor.openWorkflow(workflow);
		await editor.openNode('Model Gateway');
		await editor.page.getByTestId('credential-edit-button').click();
	});
	afterAll(async () => await stage.close());

	const save = async (values: Record<string, string>) => {
		for (const [field, value] of Object.entries(values)) {
			await editor.page.getByTestId(`parameter-input-${field}`).locator('input').fill(value);
		}
		await editor.page.getByTestId('credential-save-button').click();
	};
	const dialog = () => editor.page.getByTestId('editCredential-modal');
	const succeeds = async () =>
		await dialog().getByTestId('credentials-config-container-test-success').waitFor();
	const failsWith = async (text: string) => {
		const reason = dialog().getByText(text);
		const more = dialog().getByText('More details');
		await reason.or(more).first().waitFor();
		// Details that were opened once stay open.
		if (!(await reason.isVisible())) await more.click();
		await reason.waitFor();
	};

	it('the connection test accepts a valid API key', async () => {
		await succeeds();
		await editor.takePicture('credential');
	});

	it('the connection test rejects a wrong API key', async () => {
		await save({ apiKey: 'wrong-key' });
		await failsWith('The API key is not valid. Copy it again, as a whole.');
	});

	it('the connection test accepts an API key pasted with Bearer and spaces', async () => {
		await save({ apiKey: ` Bearer ${stage.gateway.apiKey} `, baseUrl: `${stage.gateway.url}/` });
		await succeeds();
		expect(editor.complaints).toEqual([]);
	});

	it('the connection test rejects a price that is no number, and accepts a valid one', async () => {
		const { page } = editor;
		const write = async (prices: string) => {
			await dialog().getByTestId('parameter-input-prices').locator('.cm-content').click();
			await page.keyboard.press('Control+a');
			// The editor closes brackets by itself.
			await page.keyboard.insertText(prices);
			// The dialog takes over the value a moment later.
			await setTimeout(500);
			await page.getByTestId('credential-save-button').click();
		};
		await dialog().getByTestId('parameter-input-advanced').locator('.el-switch').click();
		await write('{ "vid-3.1": { "per_video": "forty cents" } }');
		await failsWith('The connection works, but not Prices (JSON)');
		await write('{ "vid-3.1": { "per_video": 0.4 } }');
		await succeeds();
		expect(editor.complaints).toEqual([]);
	});
});
