import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json as jsonIn } from 'node:stream/consumers';
import type { IDataObject } from 'n8n-workflow';
import { withSettings } from '../support/workflows/examples';
import { picture, titleOf } from '../support/data/samples';
import type { Page } from '../n8n/editor';
import { readyExample } from '../n8n/examples';
import { having } from '../n8n/features';
import { openMailbox, type Mailbox } from '../n8n/mailbox';
import { fetchPublished, type CredentialReference } from '../n8n/owner';
import { shared } from './support/shared';
import { withStage } from './support/stage';
import { until } from '../support/time/until';
import { withCredential } from '../support/workflows/workflows';

/** Each example is published as its user publishes it. */
describe('examples started by a form, a webhook or a chat', () => {
	const stage = withStage();

	/** @param credentials those of other nodes than this package's, by the name of the node */
	async function publish(
		file: string,
		settings: IDataObject = {},
		credentials: Record<string, Record<string, CredentialReference>> = {},
	) {
		const { gateway, owner, credential } = stage;
		const ready = await readyExample(file, { gateway, filesFolder: shared.filesFolder });
		const { nodes, ...rest } = withCredential(withSettings(ready, settings), credential);
		const webhookId = randomUUID();
		const workflow = await owner.createWorkflow({
			...rest,
			nodes: nodes.map((node) => ({
				...node,
				// As the editor does on import.
				...(/webhook$|trigger$/i.test(node.type) && { webhookId }),
				...(/\.form$/.test(node.type) && { webhookId: randomUUID() }),
				...(/chatTrigger$/.test(node.type) && {
					parameters: { ...node.parameters, public: true },
				}),
				...(node.name in credentials && { credentials: credentials[node.name] }),
			})),
		});
		await owner.publish(workflow);
		return { workflow, webhookId };
	}
	const orders = (route: string) => stage.gateway.requests.filter((order) => order.route === route);

	describe('product-videos-from-a-form.json', () => {
		let page: Page;
		let address: string;

		const send = async (product: string, text: string, colours: string[]) => {
			await page.goto(address);
			await page.getByLabel('Product').fill(product);
			await page.getByLabel('What happens').fill(text);
			for (const [index, colour] of colours.entries()) {
				const file = {
					name: `${colour}.png`,
					mimeType: 'image/png',
					buffer: Buffer.from(picture(colour)),
				};
				await page.locator('input[type=file]').nth(index).setInputFiles(file);
			}
			await page.getByRole('button', { name: 'Order Video' }).click();
		};
		const mediaOf = (body: unknown) => (body as { input: { media: IDataObject[] } }).input.media;

		beforeAll(async () => {
			const { webhookId } = await publish('product-videos-from-a-form.json', { seconds: 2 });
			address = `${stage.owner.url}/form/${webhookId}`;
			await fetchPublished(address);
			({ page } = await stage.editor());
		});

		having('signedLinks')(
			'saves a video of both images from the form, and its last page links to it',
			async () => {
				await send('Test Mug', 'The mug of image 1 turns', ['green', 'blue']);
				await page.getByText('Your video is ready').first().waitFor();
				const name = `Test Mug-${stage.gateway.ledger[0].job}.mp4`;
				await page.getByText(`It is saved as ${name}`).waitFor();
				const link = await page.getByRole('link', { name: 'Open it here' }).getAttribute('href');
				const file = readFileSync(path.join(shared.filesFolder, name));
				expect(titleOf(file)).toBe('Test Mug: The mug of image 1 turns');
				expect(Buffer.from(await (await fetch(link ?? '')).arrayBuffer())).toEqual(file);

				const [{ body }] = orders('referenceVideoCreate');
				expect(body).toMatchObject({ input: { prompt: 'Test Mug: The mug of image 1 turns' } });
				const [first, second] = mediaOf(body);
				expect(first.url).toContain(`${stage.owner.url}/rest/binary-data/signed?token=`);
				expect(first.url).not.toBe(second.url);
			},
		);

		having('signedLinks')('orders the same form entry only once', async () => {
			await send('Test Mug', 'The mug of image 1 turns', ['green', 'blue']);
			await page.getByText('This video was ordered before').first().waitFor();
			expect(orders('referenceVideoCreate')).toHaveLength(1);
			await send('Test Mug', 'The mug of image 1 turns', ['green', 'red']);
			await page.getByText('Your video is ready').first().waitFor();
			expect(orders('referenceVideoCreate')).toHaveLength(2);
		});

		having('signedLinks')(
			'shows why a video was refused, and sends a single image as both references',
			async () => {
				await send('Test Mug', '[blocked]', ['green']);
				await page.getByText('There is no video').first().waitFor();
				await page.getByText('content moderation').waitFor();
				const [first, second] = mediaOf(orders('referenceVideoCreate').at(-1)?.body);
				expect(first.type).toBe('reference_image');
				expect(second.type).toBe('reference_image');
				const [one, other] = await Promise.all(
					[first, second].map(async ({ url }) => await (await fetch(String(url))).arrayBuffer()),
				);
				expect(Buffer.from(one)).toEqual(Buffer.from(picture('green')));
				expect(other).toEqual(one);
			},
		);
	});

	describe('answer-now-deliver-later.json', () => {
		const secret = { 'x-order-secret': 'for tests' };
		const delivered: IDataObject[] = [];
		const receiver = createServer((request, response) => {
			// It is down for the first call.
			const isDown = delivered.length === 0;
			void jsonIn(request).then((body) => {
				delivered.push(isDown ? {} : (body as IDataObject));
				response.writeHead(isDown ? 503 : 204).end();
			});
		});
		let mailbox: Mailbox;
		let callback_url: string;
		let address: string;
		let flow: Awaited<ReturnType<typeof publish>>['workflow'];

		const order = async (body: IDataObject, headers: Record<string, string> = secret) => {
			const response = await fetchPublished(address, {
				method: 'POST',
				headers: { 'content-type': 'application/json', ...headers },
				body: JSON.stringify(body),
			});
			const text = await response.text();
			return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text };
		};
		const boat = { order_id: 'A-1', prompt: 'A boat crosses a lake' };
		const broken = { order_id: 'A-2', prompt: '[fail]' };

		beforeAll(async () => {
			await once(receiver.listen(0, '127.0.0.1'), 'listening');
			callback_url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/done`;
			mailbox = await openMailbox();
			const { owner } = stage;
			const [name, value] = Object.entries(secret)[0];
			const httpHeaderAuth = await owner.createCredentialOf('httpHeaderAuth', { name, value });
			const smtp = await owner.createCredentialOf('smtp', mailbox.credential);
			const published = await publish(
				'answer-now-deliver-later.json',
				{},
				{ 'Video Order': { httpHeaderAuth }, 'Send Mail': { smtp } },
			);
			flow = published.workflow;
			address = `${owner.url}/webhook/video-order`;
		});
		afterAll(async () => {
			await mailbox?.close();
			receiver.close();
		});

		it('answer-now-deliver-later.json responds at once with the job ID, and parks', async () => {
			const before = stage.gateway.ledger.length;
			const [first, second] = [await order({ ...boat, callback_url }), await order(broken)];
			const jobs = stage.gateway.ledger.slice(before).map(({ job }) => job);
			expect(first).toEqual({
				status: 202,
				body: { order_id: 'A-1', status: 'ordered', job_id: jobs[0] },
			});
			expect(second.body).toMatchObject({ order_id: 'A-2', job_id: jobs[1] });
			await until(async () => {
				const executions = await stage.owner.executionsOf(flow);
				return executions.filter(({ status }) => status === 'waiting').length === 2;
			});
			expect(orders('videoContent')).toEqual([]);
			expect(delivered).toEqual([]);
		});

		it('orders nothing for a repeated or missing order ID, or without the secret header', async () => {
			const before = stage.gateway.ledger.length;
			const again = await order({ ...boat, callback_url });
			expect(again).toEqual({ status: 200, body: { order_id: 'A-1', status: 'already ordered' } });
			const nameless = await order({ prompt: boat.prompt });
			expect(nameless.status).toBe(422);
			expect(nameless.body).toMatchObject({ status: 'refused' });
			expect(nameless.body.reason).toBe('order_id is missing');
			expect((await order({ ...boat, order_id: 'A-3' }, {})).status).toBe(403);
			expect(stage.gateway.ledger).toHaveLength(before);
		});

		it('delivers a video to its callback URL, which is down at first', async () => {
			await until(() => delivered.length === 2);
			expect(delivered[1]).toMatchObject({ order_id: 'A-1', status: 'completed', reason: '' });
			const video = await fetch(String(delivered[1].video_url));
			expect(titleOf(new Uint8Array(await video.arrayBuffer()))).toBe(boat.prompt);
		}, 180_000);

		it('reports by mail why a video failed', async () => {
			await until(() => mailbox.mails.length > 0);
			const [{ to, subject, text }] = mailbox.mails;
			expect({ to, subject }).toEqual({
				to: 'you@example.com',
				subject: 'There is no video: A-2',
			});
			expect(text).toContain('the prompt asked the job to fail');
			expect(text).toContain('Job: video_');
			expect(mailbox.mails).toHaveLength(1);
		}, 180_000);
	});

	having('tables')(
		'faq-with-embeddings.json answers from the nearest entry, or says that nothing fits',
		async () => {
			const { gateway, owner } = stage;
			const nothing = 'Nobody knows.';
			const settings = { lowest_score: 0.2, nothing_fits: nothing };
			const { workflow, webhookId } = await publish('faq-with-embeddings.json', settings);
			const before = gateway.ledger.length;
			const charged = () => gateway.ledger.slice(before).map(({ kind }) => kind);
			const learnt = await owner.ended(await owner.start(workflow));
			expect(learnt.status).toBe('success');
			expect(charged()).toEqual(['embedding']);

			const ask = async (chatInput: string) => {
				const response = await fetchPublished(`${owner.url}/webhook/${webhookId}/chat`, {
					method: 'POST',
					headers: { 'content-type': 'application/json' },
					body: JSON.stringify({ action: 'sendMessage', sessionId: webhookId, chatInput }),
				});
				return (await response.json()) as unknown;
			};
			gateway.script('Within 14 days.');
			expect(await ask('How can I get my money back?')).toMatchObject({
				output: 'Within 14 days.',
			});
			const [{ content }, user] = (orders('chat').at(-1)?.body as { messages: IDataObject[] })
				.messages;
			expect(content).toContain('Send the goods back within 14 days.');
			expect(content).toContain(nothing);
			expect(content).not.toContain('warranty');
			expect(user).toEqual({ role: 'user', content: 'How can I get my money back?' });

			expect(await ask('zyx wvu')).toMatchObject({ output: nothing });
			// The entries once, each question once, and the chat for one of them.
			expect(charged()).toEqual(['embedding', 'embedding', 'chat', 'embedding']);
		},
	);

	it('picture-refined-in-a-chat.json shows each image, and refines the latest one', async () => {
		const { gateway } = stage;
		const file = 'picture-refined-in-a-chat.json';
		const editor = await stage.editor();
		const { page } = editor;
		const ready = await readyExample(file, { gateway, filesFolder: shared.filesFolder });
		await editor.importWorkflow(stage.imported(ready));
		await page.getByTestId('workflow-chat-button').click();
		await editor.raiseChat(150);
		const typed = page.getByTestId('canvas-chat').locator('textarea');
		const messages = page.getByTestId('canvas-chat-body');
		const pictures = messages.locator('img[alt="The picture"]');
		const write = async (text: string) => {
			await typed.fill(text);
			await typed.press('Enter');
		};
		const before = orders('chat').length;
		const sent = (index: number) =>
			(orders('chat')[before + index].body as { messages: IDataObject[] }).messages;

		await write('A lighthouse');
		await pictures.nth(0).waitFor();
		await write('make the sky darker');
		await pictures.nth(1).waitFor();
		await write('[blocked]');
		await messages.getByText('The picture stays as it is').waitFor();
		await write('add a ship');
		await pictures.nth(2).waitFor();
		await write('Done!');
		const where = messages.getByText(/Saved as .*picture-/);
		await where.waitFor();

		const bytesOf = async (index: number) => {
			const link = await pictures.nth(index).getAttribute('src');
			return Buffer.from(await (await fetch(link ?? '')).arrayBuffer());
		};
		const dataOf = async (index: number) =>
			`data:image/png;base64,${(await bytesOf(index)).toString('base64')}`;
		const asked = { role: 'user', content: 'A lighthouse' };
		expect(sent(0)).toEqual([{ ...asked, content: 'A lighthouse【3:2】' }]);
		for (const [index, latest, change] of [
			[1, 0, 'make the sky darker'],
			[2, 1, '[blocked]'],
			[3, 1, 'add a ship'],
		] as const) {
			const shown = { type: 'image_url', image_url: { url: await dataOf(latest) } };
			expect(sent(index)).toEqual([
				asked,
				{ role: 'assistant', content: [shown] },
				{ role: 'user', content: `${change}【3:2】` },
			]);
		}
		expect(orders('chat')).toHaveLength(before + 4);
		const said = (await where.textContent()) ?? '';
		const saved = readdirSync(shared.filesFolder).filter((name) => name.startsWith('picture-'));
		expect(saved).toHaveLength(3);
		expect(said).toContain(saved.sort().at(-1));
		for (const [index, name] of saved.entries()) {
			const file = readFileSync(path.join(shared.filesFolder, name));
			expect(file).toEqual(await bytesOf(index));
		}
		expect(editor.complaints).toEqual([]);
	});
});
