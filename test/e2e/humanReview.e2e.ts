import type { IDataObject, IWorkflowBase } from 'n8n-workflow';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readExample, settingsOf, withSettings } from '../demo/example';
import type { WorkflowJson } from '../harness/workflow';
import { packInto } from '../support/packed';
import { withCredential } from './support/examples';
import { openMailbox, type Mail, type Mailbox } from './support/mailbox';
import { startN8n, type N8n } from './support/n8n';
import { fetchPublished, itemsOf, type CredentialReference } from './support/owner';
import { openStage, type Stage } from './support/stage';
import { until } from './support/until';
import { core, type Node } from './support/workflows';

const agentExample = 'video-agent-with-approval.json';
const listExample = 'scheduled-list-with-approval.json';

/** n8n takes no answer from a bot, and looks at this to know one. */
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36' };
const press = async (button: string) => (await fetch(button, { headers: browser })).status;

/** A question that waits for its answer. */
interface Question {
	workflow: IWorkflowBase;
	/** Of the execution. */
	id: string;
	/** What would be ordered. */
	prompts: string[];
	/** Where the buttons lead, by what is written on them. */
	buttons: Record<string, string>;
}

interface ListVideo {
	name: string;
	model: string;
	prompt: string;
}

interface ListOptions {
	/** Of the time for an answer. */
	limit?: IDataObject;
	videos?: ListVideo[];
	byHand?: boolean;
}

/**
 * A person is asked before anything is ordered: in the chat with an agent, by n8n's human review of a tool, and by
 * mail before a list. Nobody is at the chat but in the first test. All other questions are asked before it.
 */
describe('a person is asked first', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'n8n-asks-'));
	const filesFolder = path.join(folder, '.n8n-files');
	let n8n: N8n;
	let stage: Stage;
	let mailbox: Mailbox;
	let smtp: CredentialReference;
	const asked: Record<string, Question> = {};

	beforeAll(async () => {
		mailbox = await openMailbox();
		n8n = await startN8n({ tarball: packInto(folder).tarball, folder });
		stage = await openStage({}, n8n);
		smtp = await stage.owner.createCredentialOf('smtp', mailbox.credential);
		asked.rejected = await askInChat('Make me a video of a rejected boat');
		asked.two = await askInChat(['Two, the first', 'Two, the second'].map(callFor).join('\n'));
		asked.forgotten = await askInChat('Make me a video of a forgotten boat');
		asked.ordered = await askByMail('ordered', { videos: exampleVideos, byHand: true });
		asked.declined = await askByMail('declined');
		asked.restarted = await askByMail('restarted');
		asked.late = await askByMail('late', { limit: { resumeAmount: 0.2, resumeUnit: 'minutes' } });
	}, 180_000);
	afterAll(async () => {
		await stage?.close();
		await n8n?.stop();
		await mailbox?.close();
		rmSync(folder, { recursive: true, force: true });
	});

	/** The words by which the model of the gateway calls the tool, whatever it is asked. */
	const callFor = (prompt: string) =>
		`call Create_Video with {"toolParameters":{"prompt":"${prompt}"},"hitlParameters":{}}`;
	const exampleVideos = settingsOf(readExample(listExample)).videos as unknown as ListVideo[];

	/** Those of its prompts that were paid for, as often as they were. */
	const ordered = ({ prompts }: Pick<Question, 'prompts'>) =>
		stage.gateway.ledger
			.map(({ job }) => stage.gateway.jobs.get(job ?? '')?.order.prompt ?? '')
			.filter((prompt) => prompts.includes(prompt))
			.sort();

	const become = async ({ id }: Question, ...states: string[]) => {
		await until(async () => states.includes((await stage.owner.execution(id)).status));
		return await stage.owner.execution(id);
	};
	/** The execution of an agent, once there is an answer for the chat. */
	const answered = async ({ id }: Question) => {
		await until(async () => itemsOf(await stage.owner.execution(id), 'AI Agent').length > 0);
		return String(itemsOf(await stage.owner.execution(id), 'AI Agent')[0].json.output);
	};
	const openExecutionOf = async (workflow: IWorkflowBase) => {
		await until(async () => (await stage.owner.executionsOf(workflow))[0]?.status === 'waiting');
		return (await stage.owner.executionsOf(workflow))[0].id;
	};
	const changed = ({ nodes, ...rest }: WorkflowJson, name: string, change: Partial<Node>) => ({
		...rest,
		nodes: nodes.map((node) => (node.name === name ? { ...node, ...change } : node)),
	});

	/** Writes something into the published chat of the example, and looks at the question that comes. */
	async function askInChat(text: string): Promise<Question> {
		const webhookId = `chat-${Object.keys(asked).length}-${Date.now()}`;
		const parameters = { public: true, options: { responseMode: 'responseNodes' } };
		const example = changed(readExample(agentExample), 'Chat', { webhookId, parameters });
		const workflow = await stage.owner.createWorkflow(withCredential(example, stage.credential));
		await stage.owner.publish(workflow);
		return await write(workflow, webhookId, text);
	}
	async function write(workflow: IWorkflowBase, webhookId: string, chatInput: string) {
		await fetchPublished(`${stage.owner.url}/webhook/${webhookId}/chat`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ action: 'sendMessage', sessionId: webhookId, chatInput }),
		});
		const id = await openExecutionOf(workflow);
		const { data } = await stage.owner.execution(id);
		const [item] = data.resultData.runData['Ask First'][0].data?.ai_tool?.[0] ?? [];
		// What the chat shows, as n8n stores it.
		const shown = item?.sendMessage as unknown as {
			buttons: Array<{ text: string; link: string }>;
		};
		const buttons = Object.fromEntries(shown.buttons.map((button) => [button.text, button.link]));
		return { workflow, id, prompts: [chatInput], buttons };
	}

	/** Runs the list example, by itself unless it is started by hand, and reads the mail that comes. */
	async function askByMail(
		name: string,
		{ limit, videos = videosOf(name), byHand = false }: ListOptions = {},
	): Promise<Question> {
		const { owner, credential } = stage;
		const address = `${name}@example.com`;
		const example = withSettings(readExample(listExample), {
			...{ folder: filesFolder, mail_to: address },
			videos: videos as object[] as IDataObject[],
		});
		const question = example.nodes.find((node) => node.name === 'Ask First');
		const options = limit && { options: { limitWaitTime: { values: limit } } };
		const mailing = changed(example, 'Ask First', {
			parameters: { ...question?.parameters, ...options } as Node['parameters'],
			credentials: { smtp },
		});
		// A webhook starts it at once, and as the schedule does: without the editor.
		const trigger = core('Every Monday', 'webhook', { path: name }, 2.1);
		const started = changed(mailing, trigger.name, { ...trigger, webhookId: name });
		const workflow = await owner.createWorkflow(
			withCredential(byHand ? mailing : started, credential),
		);
		if (byHand) await owner.start(workflow);
		else {
			await owner.publish(workflow);
			await fetchPublished(`${owner.url}/webhook/${name}`);
		}
		const id = await openExecutionOf(workflow);
		const prompts = videos.map(({ prompt }) => prompt).sort();
		return { workflow, id, prompts, buttons: mailTo(address).buttons };
	}
	const videosOf = (name: string): ListVideo[] =>
		[1, 2].map((number) => ({
			...{ name: `${name}-${number}`, model: 'vid-3.1', prompt: `Tree ${number}, ${name}` },
		}));
	const mailTo = (address: string) => mailbox.mails.find(({ to }) => to === address) as Mail;

	it('in the chat, and its button orders one video', async () => {
		const prompt = 'A small boat glides through the fog at dawn, towards a lighthouse.';
		const question = { prompts: [prompt] };
		const call = { toolParameters: { prompt }, hitlParameters: {} };
		stage.gateway.script({ calls: [{ name: 'Create_Video', arguments: call }] });
		const editor = await stage.editor();
		const { page } = editor;
		await page.setViewportSize({ width: 1440, height: 1150 });
		await editor.importWorkflow(readExample(agentExample));
		await page.getByTestId('workflow-chat-button').click();
		const typed = page.getByTestId('canvas-chat').locator('textarea');
		await typed.fill('Make me a video of a boat');
		await typed.press('Enter');
		const messages = page.getByTestId('canvas-chat-body');
		const button = messages.getByText('Order It', { exact: true });
		await button.waitFor();
		expect(ordered(question)).toEqual([]);
		await page.getByText('Credentials auto-added').waitFor({ state: 'hidden' });
		await editor.raiseChat(100);
		await page.getByTestId('zoom-to-fit').click();
		await editor.takePicture('ask-chat');
		await button.click();
		await messages.getByRole('link', { name: 'watch it' }).waitFor();
		expect(ordered(question)).toEqual([prompt]);
		expect(editor.complaints).toEqual([]);

		const mail = mailTo('ordered@example.com');
		await page.setViewportSize({ width: 720, height: 440 });
		await page.setContent(mail.html);
		await editor.takePicture('ask-mail');
	});

	it('in the chat, and nothing is ordered when the answer is no', async () => {
		expect(await press(asked.rejected.buttons.No)).toBe(200);
		expect(await answered(asked.rejected)).toContain('User rejected the tool call');
		expect(ordered(asked.rejected)).toEqual([]);
	});

	it('about one call when an agent makes two at once, and the other is not made', async () => {
		expect(await press(asked.two.buttons['Order It'])).toBe(200);
		await answered(asked.two);
		expect(ordered({ prompts: ['Two, the first', 'Two, the second'] })).toEqual(['Two, the first']);
	});

	it('by mail, which shows what would be ordered', () => {
		const { subject, html } = mailTo('ordered@example.com');
		expect(subject).toBe('Order 3 videos?');
		for (const { name, model, prompt } of exampleVideos) {
			expect(html).toContain(`${name} (${model})`);
			expect(html).toContain(prompt);
		}
	});

	it('by mail, and the list is ordered once, however often the button is pressed', async () => {
		const { ordered: question } = asked;
		const button = question.buttons['Order Them'];
		expect(await Promise.all([press(button), press(button)])).toContain(200);
		await become(question, 'success');
		await press(button);
		expect(ordered(question)).toEqual(question.prompts);
		const saved = readdirSync(filesFolder).map((file) => file.split('-')[0]);
		expect(saved.sort()).toEqual(exampleVideos.map(({ name }) => name).sort());
	});

	it('by mail, and nothing is ordered when the answer is no', async () => {
		expect(await press(asked.declined.buttons['Order Nothing'])).toBe(200);
		const execution = await become(asked.declined, 'success');
		expect(itemsOf(execution, 'Nothing Is Ordered')).toHaveLength(1);
		expect(ordered(asked.declined)).toEqual([]);
	});

	describe('n8n, restarted before the answer', () => {
		beforeAll(async () => {
			await n8n.stop();
			n8n = await startN8n({ folder, port: Number(new URL(n8n.url).port) });
			// Until then it answers that it is starting up, or with an error, and whoever answers has to do so again.
			const starts = () =>
				readFileSync(n8n.logFile, 'utf8').split('Editor is now accessible').length - 1;
			await until(() => starts() === 2);
		}, 90_000);

		it('orders the list when the answer comes', async () => {
			const { restarted } = asked;
			expect(ordered(restarted)).toEqual([]);
			expect(await press(restarted.buttons['Order Them'])).toBe(200);
			// It is parked until the videos are finished.
			await until(() => ordered(restarted).length > 1);
			await become(restarted, 'waiting', 'success');
			await press(restarted.buttons['Order Them']);
			await become(restarted, 'waiting', 'success');
			expect(ordered(restarted)).toEqual(restarted.prompts);
		});

		// Seen in n8n 2.40.7: as it starts, it takes an agent that waits for one that has crashed.
		it('takes no answer for an agent any more, and orders nothing until it is asked anew', async () => {
			const { forgotten } = asked;
			expect(await press(forgotten.buttons['Order It'])).toBe(409);
			expect(ordered(forgotten)).toEqual([]);
			const { webhookId = '' } = forgotten.workflow.nodes.find(({ name }) => name === 'Chat') ?? {};
			const again = await write(forgotten.workflow, webhookId, forgotten.prompts[0]);
			expect(again.id).not.toBe(forgotten.id);
			expect(await press(again.buttons['Order It'])).toBe(200);
			await answered(again);
			expect(ordered(forgotten)).toEqual(forgotten.prompts);
		});

		it('orders nothing when nobody answers in time', async () => {
			// What is due as it starts, n8n may call crashed.
			await become(asked.late, 'success', 'crashed');
			expect(ordered(asked.late)).toEqual([]);
		});
	});
});
