import { picture } from '../support/data/samples';
import { lackOf } from '../n8n/features';
import { openStage, type Stage } from './support/stage';
import { fetchPublished, itemsOf } from '../n8n/owner';
import { byId, core, modelGateway, startedBy, waitForVideo } from '../support/workflows/workflows';

describe('an image from a form', () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage();
	});
	afterAll(async () => await stage.close());

	it('uses an image from a form as reference media by a signed link, or says why it cannot', async () => {
		const { owner, gateway } = stage;
		const path = `form-${Date.now()}`;
		const form = core(
			'Start',
			'formTrigger',
			{
				formTitle: 'Make a video',
				formFields: {
					values: [
						{ fieldLabel: 'Picture', fieldType: 'file', multipleFiles: false, requiredField: true },
					],
				},
				options: { path },
			},
			2.3,
		);
		const create = modelGateway({
			...{ resource: 'referenceVideo', operation: 'create', model: byId('beta-2.7-r2v') },
			prompt: 'Image 1 turns slowly',
			media: { values: [{ type: 'reference_image', source: 'binary', binaryField: 'Picture' }] },
			options: { duration: 2 },
		});
		const workflow = await stage.create(
			startedBy({ ...form, webhookId: path }, create, waitForVideo()),
		);
		await owner.publish(workflow);

		await fetchPublished(`${owner.url}/form/${path}`);
		const { page } = await stage.editor();
		await page.goto(`${owner.url}/form/${path}`);
		const file = {
			name: 'picture.png',
			mimeType: 'image/png',
			buffer: Buffer.from(picture('green')),
		};
		await page.locator('input[type=file]').setInputFiles(file);
		await page.getByRole('button', { name: 'Submit' }).click();
		await page
			.getByText(/submitted|recorded/i)
			.first()
			.waitFor();

		const [latest] = await owner.executionsOf(workflow);
		const execution = await owner.ended(latest.id);
		if (lackOf('signedLinks')) {
			expect(execution.data.resultData.error?.message).toContain(
				'needs n8n to keep files outside its memory (N8N_DEFAULT_BINARY_DATA_MODE=filesystem)',
			);
			expect(gateway.ledger).toEqual([]);
			return;
		}
		expect(execution.data.resultData.error).toBeUndefined();
		const [order] = gateway.requests.filter(({ route }) => route === 'referenceVideoCreate');
		const { media } = (order.body as { input: { media: Array<{ url: string }> } }).input;
		expect(media).toEqual([
			{
				type: 'reference_image',
				url: expect.stringContaining(`${owner.url}/rest/binary-data/signed?token=`),
			},
		]);
		const [video] = itemsOf(execution, 'Wait for Video');
		expect(video.binary?.data).toMatchObject({ mimeType: 'video/mp4' });
	});
});
