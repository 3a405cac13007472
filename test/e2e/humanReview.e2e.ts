import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readExample } from '../support/workflows/examples';
import type { WorkflowJson } from '../harness/workflow';
import { packInto } from '../support/files/packed';
import { having, lacking, lackOf } from '../n8n/features';
import { openMailbox, type Mailbox } from '../n8n/mailbox';
import { startN8n, type N8n } from '../n8n/n8n';
import { itemsOf } from '../n8n/owner';
import { agentExample, exampleVideos, press, Questions, type Question } from './support/questions';
import { openStage, type Stage } from './support/stage';
import { until } from '../support/time/until';

/**
 * A person is asked before anything is ordered: in the chat with an agent, by n8n's human review of a tool, and by
 * mail before a list. Only the first test opens the chat in a browser. Most questions are asked in `beforeAll`.
 */
describe('human approval before an order', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-asks-'));
	const filesFolder = path.join(folder, '.n8n-files');
	let n8n: N8n;
	let stage: Stage;
	let mailbox: Mailbox;
	let questions: Questions;
	const asked: Record<string, Question> = {};

	beforeAll(async () => {
		mailbox = await openMailbox();
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
		stage = await openStage({}, n8n);
		const smtp = await stage.owner.createCredentialOf('smtp', mailbox.credential);
		questions = new Questions(stage, mailbox, smtp, filesFolder);
		if (lackOf('humanReview') === undefined) {
			asked.rejected = await questions.inChat('Make me a video of a rejected boat');
			asked.two = await questions.inChat(twoCalls);
			asked.forgotten = await questions.inChat('Make me a video of a forgotten boat');
		}
		asked.ordered = await questions.byMail('ordered', { videos: exampleVideos, byHand: true });
		asked.declined = await questions.byMail('declined');
		asked.restarted = await questions.byMail('restarted');
		const limit = { resumeAmount: 0.2, resumeUnit: 'minutes' };
		asked.late = await questions.byMail('late', { limit });
	}, 180_000);
	afterAll(async () => {
		await stage?.close();
		await n8n?.stop();
		await mailbox?.close();
		rmSync(folder, { recursive: true, force: true });
	});

	const callFor = (prompt: string) => ({
		name: 'Create_Video',
		arguments: { toolParameters: { prompt }, hitlParameters: {} },
	});
	/** Its tool and its question as docs/human-approval.md builds them: nobody has filled in the prompt. */
	const asInGuide = (example: WorkflowJson): WorkflowJson => {
		const copy = structuredClone(example);
		for (const { parameters = {} } of copy.nodes) {
			delete parameters.prompt;
			if (typeof parameters.message === 'string')
				parameters.message = parameters.message.replace('parameters.prompt', 'parameters.Prompt');
		}
		return copy;
	};
	const two = ['Two, the first', 'Two, the second'];
	/** The text that makes the embedded gateway's model call a tool twice. */
	const twoCalls = two
		.map(callFor)
		.map((call) => `call ${call.name} with ${JSON.stringify(call.arguments)}`)
		.join('\n');
	const twoTurns = ['Turns, the first', 'Turns, the second'];

	having('humanReview')('orders one video when the button in the chat is pressed', async () => {
		const prompt = 'A small boat glides through the fog at dawn, towards a lighthouse.';
		const question = { prompts: [prompt] };
		stage.gateway.script({
			calls: [
				{
					name: 'Create_Video',
					arguments: { toolParameters: { Prompt: prompt }, hitlParameters: {} },
				},
			],
		});
		const editor = await stage.editor();
		const { page } = editor;
		await page.setViewportSize({ width: 1440, height: 1150 });
		await editor.importWorkflow(stage.imported(asInGuide(readExample(agentExample))));
		await page.getByTestId('workflow-chat-button').click();
		const typed = page.getByTestId('canvas-chat').locator('textarea');
		await typed.fill('Make me a video of a boat');
		await typed.press('Enter');
		const messages = page.getByTestId('canvas-chat-body');
		const button = messages.getByText('Order It', { exact: true });
		await messages.getByText(prompt).waitFor();
		await button.waitFor();
		expect(questions.ordered(question)).toEqual([]);
		await page.getByText('Credentials auto-added').waitFor({ state: 'hidden' });
		await editor.raiseChat(100);
		await page.getByTestId('zoom-to-fit').click();
		await editor.takePicture('ask-chat');
		await button.click();
		await messages.getByRole('link', { name: 'watch it' }).waitFor();
		expect(questions.ordered(question)).toEqual([prompt]);
		expect(editor.complaints).toEqual([]);

		const mail = questions.mailAbout('ordered');
		await page.setViewportSize({ width: 720, height: 440 });
		await page.setContent(mail.html);
		await editor.takePicture('ask-mail');
	});

	having('humanReview')('orders nothing when the reviewer declines in the chat', async () => {
		expect(await press(asked.rejected.buttons.No)).toBe(200);
		expect(await questions.answerTo(asked.rejected)).toContain('User rejected the tool call');
		expect(questions.ordered(asked.rejected)).toEqual([]);
	});

	having('humanReview')(
		'asks about one of two calls that an agent makes at once, and drops the other',
		async () => {
			expect(await press(asked.two.buttons['Order It'])).toBe(200);
			await questions.answerTo(asked.two);
			expect(questions.ordered({ prompts: two })).toEqual(['Two, the first']);
		},
	);

	having('humanReview')(
		'asks in the chat about each order, although an old button also answers the next question',
		async () => {
			const turns = twoTurns.map((prompt) => ({ calls: [callFor(prompt)] }));
			stage.gateway.script(...turns, 'Both are ordered.');
			const question = await questions.inChat('One, and then another');
			const button = question.buttons['Order It'];
			expect(await press(button)).toBe(200);
			await until(() => questions.ordered({ prompts: twoTurns }).length > 0);
			await questions.become(question, 'waiting');
			expect(questions.ordered({ prompts: twoTurns })).toEqual(['Turns, the first']);
			expect(await press(button)).toBe(200);
			await questions.answerTo(question);
			expect(questions.ordered({ prompts: twoTurns })).toEqual(twoTurns);
		},
	);

	lacking('humanReview')(
		'n8n without human review rejects the chat example because it lacks the node',
		async () => {
			await expect(questions.inChat('Make me a video')).rejects.toThrow(
				/Unrecognized node type.*Hitl/,
			);
			expect(stage.gateway.ledger).toEqual([]);
		},
	);

	it('shows in the mail what would be ordered', () => {
		const { subject, html } = questions.mailAbout('ordered');
		expect(subject).toBe('Order 3 videos?');
		for (const { name, model, prompt } of exampleVideos) {
			expect(html).toContain(`${name} (${model})`);
			expect(html).toContain(prompt);
		}
	});

	it('orders the list once when the button in the mail is pressed several times', async () => {
		const { ordered: question } = asked;
		const button = question.buttons['Order Them'];
		expect(await Promise.all([press(button), press(button)])).toContain(200);
		await questions.become(question, 'success');
		await press(button);
		expect(questions.ordered(question)).toEqual(question.prompts);
		const saved = () => readdirSync(filesFolder).map((file) => file.split('-')[0]);
		// n8n 1 resumes the execution twice: one of the runs is refused and ends before the other.
		await until(() => saved().length >= exampleVideos.length);
		expect(saved().sort()).toEqual(exampleVideos.map(({ name }) => name).sort());
	});

	it('orders nothing when the reviewer declines by mail', async () => {
		expect(await press(asked.declined.buttons['Order Nothing'])).toBe(200);
		const execution = await questions.become(asked.declined, 'success');
		expect(itemsOf(execution, 'Nothing Is Ordered')).toHaveLength(1);
		expect(questions.ordered(asked.declined)).toEqual([]);
	});

	describe('n8n restarted before the answer', () => {
		beforeAll(async () => {
			await n8n.stop();
			n8n = await startN8n({ folder, port: Number(new URL(n8n.url).port) });
			// Until then n8n responds that it is starting up, or with an error, and the button has to be pressed again.
			const starts = () =>
				readFileSync(n8n.logFile, 'utf8').split('Editor is now accessible').length - 1;
			await until(() => starts() === 2);
		}, 90_000);

		it('orders the list once when the mail is answered after a restart', async () => {
			const { restarted } = asked;
			expect(questions.ordered(restarted)).toEqual([]);
			expect(await press(restarted.buttons['Order Them'])).toBe(200);
			// It is parked until the videos are finished.
			await until(() => questions.ordered(restarted).length > 1);
			await questions.become(restarted, 'waiting', 'success');
			await press(restarted.buttons['Order Them']);
			await questions.become(restarted, 'waiting', 'success');
			expect(questions.ordered(restarted)).toEqual(restarted.prompts);
		});

		// Seen in n8n 2.40.7: at its start, n8n takes a waiting agent for a crashed one.
		having('humanReview')(
			'rejects an answer to an agent after a restart, and orders only after it asks again',
			async () => {
				const { forgotten } = asked;
				expect(await press(forgotten.buttons['Order It'])).toBe(409);
				expect(questions.ordered(forgotten)).toEqual([]);
				const again = await questions.inSameChat(forgotten.workflow, forgotten.prompts[0]);
				expect(again.id).not.toBe(forgotten.id);
				expect(await press(again.buttons['Order It'])).toBe(200);
				await questions.answerTo(again);
				expect(questions.ordered(forgotten)).toEqual(forgotten.prompts);
			},
		);

		it('orders nothing when nobody answers the mail in time', async () => {
			// n8n may mark an execution as crashed that is due while it starts.
			await questions.become(asked.late, 'success', 'crashed');
			expect(questions.ordered(asked.late)).toEqual([]);
		});

		it('charges only the videos that were approved', () => {
			const videos = stage.gateway.ledger.filter(({ kind }) => kind === 'video');
			const agents = ['in the editor', 'one of two', 'asked again', ...twoTurns];
			const byAgents = lackOf('humanReview') === undefined ? agents : [];
			const byLists = [...exampleVideos, ...asked.restarted.prompts];
			expect(videos).toHaveLength(byAgents.length + byLists.length);
		});
	});
});
