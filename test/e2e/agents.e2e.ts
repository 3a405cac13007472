import { readExample } from '../demo/example';
import { openStage, type Stage } from './support/stage';

describe('agents', () => {
	let stage: Stage;

	beforeAll(async () => {
		stage = await openStage({ jobSeconds: 8 });
	});
	afterAll(async () => await stage.close());

	it('explore', async () => {
		const { gateway } = stage;
		const editor = await stage.editor();
		const { page } = editor;
		await editor.importWorkflow(readExample('video-agent.json'));
		gateway.script(
			{ calls: [{ name: 'Create_Video', arguments: { prompt: 'A boat sails' } }] },
			(messages) => {
				console.log('TOOL1', JSON.stringify(messages));
				const id = /"id":"([^"]+)"/.exec(messages.at(-1)?.text ?? '')?.[1] ?? '';
				return { calls: [{ name: 'Wait_for_Video', arguments: { job_id: id } }] };
			},
			(messages) => {
				console.log('TOOL2', messages.at(-1)?.text);
				const url = /"url":"([^"]+)"/.exec(messages.at(-1)?.text ?? '')?.[1] ?? '';
				return `Here is your video: [open it](${url})`;
			},
		);
		await page.screenshot({ path: '/tmp/hFwork/0.png' });
		console.log((await page.locator('[data-test-id*=chat]').evaluateAll((all) => all.map((e) => e.getAttribute('data-test-id')))).join(' '));
		await page.getByTestId('workflow-chat-button').click();
		await page.waitForTimeout(1500);
		console.log((await page.locator('[data-test-id*=chat]').evaluateAll((all) => all.map((e) => e.getAttribute('data-test-id')))).join(' '));
		await page.screenshot({ path: '/tmp/hFwork/1.png' });
		page.on('response', async (r) => { if (/webhook|chat/.test(r.url())) console.log(r.url(), r.status(), r.headers()['content-type']); });
		const input = page.locator('.chat-layout textarea, [data-test-id="chat-input"] textarea, .chat-input textarea').first();
		await input.fill('make me a video of a boat');
		await input.press('Enter');
		for (const n of [3, 6, 10, 16]) {
			await page.waitForTimeout(n === 3 ? 3000 : 4000);
			await page.screenshot({ path: `/tmp/hFwork/at${n}.png` });
			console.log(n, gateway.requests.map(({ route }) => route).join(' '));
		}
		console.log(JSON.stringify(gateway.ledger), editor.complaints);
		const [w] = await stage.owner.request<Array<{ id: string }>>('GET', '/workflows');
		const [latest] = await stage.owner.executionsOf(w);
		console.log(JSON.stringify((await stage.owner.execution(latest.id)).data.resultData.runData, null, 1).slice(0, 12000));
	});
});
