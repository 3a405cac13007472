import { withEditor, withStage } from './support/stage';
import { chain, modelGateway } from '../support/workflows/workflows';

describe('the credential in the editor', () => {
	const stage = withStage();
	const editor = withEditor(stage);

	beforeAll(async () => {
		const workflow = await stage.create(chain(modelGateway()));
		await editor.openWorkflow(workflow);
		await editor.openNode('Model Gateway');
		await editor.page.getByTestId('credential-edit-button').click();
	});

	const dialog = () => editor.page.getByTestId('editCredential-modal');

	it('the connection test accepts a valid API key', async () => {
		await dialog().getByTestId('credentials-config-container-test-success').waitFor();
		await editor.takePicture('credential');
	});

	it('the connection test rejects a wrong API key', async () => {
		const { page } = editor;
		await page.getByTestId('parameter-input-apiKey').locator('input').fill('wrong-key');
		await page.getByTestId('credential-save-button').click();
		const reason = dialog().getByText('The API key is not valid. Copy it again, as a whole.');
		const more = dialog().getByText('More details');
		await reason.or(more).first().waitFor();
		if (!(await reason.isVisible())) await more.click();
		await reason.waitFor();
		expect(editor.complaints).toEqual([]);
	});
});
