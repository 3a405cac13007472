import type { Editor } from './support/editor';
import { openStage, type Stage } from './support/stage';
import { modelGateway, startedBy } from './support/workflows';

describe('the credential in the editor', () => {
	let stage: Stage;
	let editor: Editor;

	beforeAll(async () => {
		stage = await openStage();
		editor = await stage.editor();
		const workflow = await stage.owner.createWorkflow(
			startedBy('manualTrigger', modelGateway({}, stage.credential)),
		);
		await editor.openWorkflow(workflow);
		await editor.openNode('Model Gateway');
		await editor.page.getByTestId('credential-edit-button').click();
	});
	afterAll(async () => await stage.close());

	const save = async (label: string, value: string) => {
		const field = editor.page
			.getByTestId('credential-connection-parameter')
			.filter({ hasText: label });
		await field.locator('input').fill(value);
		await editor.page.getByTestId('credential-save-button').click();
	};
	const said = async (pattern: RegExp) => {
		const message = editor.page.getByTestId('editCredential-modal').getByText(pattern).first();
		await message.waitFor();
		return await message.innerText();
	};

	it('is tested: the right key', async () => {
		expect(await said(/Connection tested successfully/)).toBeTruthy();
		await editor.takePicture('credential');
	});

	it('is tested: a wrong key', async () => {
		await save('API Key', 'wrong-key');
		expect(await said(/The API key is not valid/)).toBeTruthy();
	});

	it('is tested: a base URL that ends in /v1', async () => {
		await save('Base URL', `${stage.gateway.url}/v1`);
		expect(await said(/must not end in \/v1/)).toBeTruthy();
	});

	it('is tested: the right key, pasted with its scheme and spaces', async () => {
		await save('API Key', ` Bearer ${stage.gateway.apiKey} `);
		await save('Base URL', `${stage.gateway.url}/`);
		expect(await said(/Connection tested successfully/)).toBeTruthy();
	});
});
