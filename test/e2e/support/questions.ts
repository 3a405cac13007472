import type { IDataObject, IWorkflowBase } from 'n8n-workflow';
import {
	readExample,
	settingsOf,
	withFolder,
	withSettings,
} from '../../support/workflows/examples';
import type { WorkflowJson } from '../../harness/workflow';
import type { Mail, Mailbox } from '../../n8n/mailbox';
import { fetchPublished, itemsOf, type CredentialReference, type Execution } from '../../n8n/owner';
import type { Stage } from './stage';
import { until } from '../../support/time/until';
import { core, type Node, withCredential } from '../../support/workflows/workflows';

export const agentExample = 'video-agent-with-approval.json';
const listExample = 'scheduled-list-with-approval.json';

export interface Question {
	workflow: IWorkflowBase;
	/** ID of the execution. */
	id: string;
	/** The order that waits for an answer. */
	prompts: string[];
	/** The links of the buttons, by their labels. */
	buttons: Record<string, string>;
}

interface ListVideo {
	name: string;
	model: string;
	prompt: string;
}

interface ListOptions {
	/** n8n's Limit Wait Time: how long the question waits for an answer. */
	limit?: IDataObject;
	/** By default two videos that no other list has. */
	videos?: ListVideo[];
	byHand?: boolean;
}

export const exampleVideos = settingsOf(readExample(listExample)).videos as object as ListVideo[];

/** n8n ignores the answers of bots, which it recognizes by this header. */
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0 Safari/537.36' };

/** Presses a button in a mail. @returns the HTTP status of n8n's response */
export const press = async (button: string): Promise<number> =>
	(await fetch(button, { headers: browser })).status;

/** The questions that the examples ask before they order. */
export class Questions {
	/** @param filesFolder where n8n may write */
	constructor(
		private readonly stage: Stage,
		private readonly mailbox: Mailbox,
		private readonly smtp: CredentialReference,
		private readonly filesFolder: string,
	) {}

	/** Sends a message to the published chat of the agent example. */
	async inChat(text: string): Promise<Question> {
		const { owner, credential } = this.stage;
		const webhookId = `chat-${Date.now()}`;
		const parameters = { public: true, options: { responseMode: 'responseNodes' } };
		const example = changed(readExample(agentExample), 'Chat', { webhookId, parameters });
		const workflow = await owner.createWorkflow(withCredential(example, credential));
		await owner.publish(workflow);
		return await this.inSameChat(workflow, text);
	}

	/** @param prompt the chat message, which the embedded gateway's model passes to its tool as the prompt */
	async inSameChat(workflow: IWorkflowBase, prompt: string): Promise<Question> {
		const { owner } = this.stage;
		const { webhookId } = nodeOf(workflow, 'Chat');
		await fetchPublished(`${owner.url}/webhook/${webhookId}/chat`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ action: 'sendMessage', sessionId: webhookId, chatInput: prompt }),
		});
		const id = await this.waitingExecutionOf(workflow);
		const { data } = await owner.execution(id);
		const [item] = data.resultData.runData['Ask First'][0].data?.ai_tool?.[0] ?? [];
		// The texts of the chat, as n8n stores them.
		const shown = item?.sendMessage as object as { buttons: Array<{ text: string; link: string }> };
		const buttons = Object.fromEntries(shown.buttons.map(({ text, link }) => [text, link]));
		return { workflow, id, prompts: [prompt], buttons };
	}

	/** Runs the list example: from a webhook, or started by hand. */
	async byMail(
		name: string,
		{ limit, videos = videosOf(name), byHand = false }: ListOptions = {},
	): Promise<Question> {
		const { owner, credential } = this.stage;
		const example = withSettings(withFolder(readExample(listExample), this.filesFolder), {
			mail_to: addressOf(name),
			videos: videos as object[] as IDataObject[],
		});
		const { parameters } = nodeOf(example, 'Ask First');
		const options = limit && { options: { limitWaitTime: { values: limit } } };
		const mailing = changed(withCredential(example, credential), 'Ask First', {
			parameters: { ...parameters, ...options } as Node['parameters'],
			credentials: { smtp: this.smtp },
		});
		// A webhook starts it at once and, like the schedule, without the editor.
		const trigger = core('Every Monday', 'webhook', { path: name }, 2.1);
		const workflow = await owner.createWorkflow(
			byHand ? mailing : changed(mailing, trigger.name, { ...trigger, webhookId: name }),
		);
		if (byHand) await owner.start(workflow);
		else {
			await owner.publish(workflow);
			await fetchPublished(`${owner.url}/webhook/${name}`);
		}
		const id = await this.waitingExecutionOf(workflow);
		const prompts = videos.map(({ prompt }) => prompt).sort();
		return { workflow, id, prompts, buttons: this.mailAbout(name).buttons };
	}

	/** @param name of the list */
	mailAbout(name: string): Mail {
		const found = this.mailbox.mails.find(({ to }) => to === addressOf(name));
		if (!found) throw new Error(`No mail about ${name} has arrived`);
		return found;
	}

	/** The prompts of a question that were charged: one entry for each charge. */
	ordered({ prompts }: Pick<Question, 'prompts'>): string[] {
		const { ledger, jobs } = this.stage.gateway;
		const charged = ledger.map(({ job }) => jobs.get(job ?? '')?.order.prompt ?? '');
		return charged.filter((prompt) => prompts.includes(prompt)).sort();
	}

	/** Waits until the execution is in one of these states. */
	async become({ id }: Question, ...states: string[]): Promise<Execution> {
		await until(async () => states.includes((await this.stage.owner.execution(id)).status));
		return await this.stage.owner.execution(id);
	}

	/** The agent's final answer. */
	async answerTo({ id }: Question): Promise<string> {
		const said = async () => itemsOf(await this.stage.owner.execution(id), 'AI Agent');
		await until(async () => (await said()).length > 0);
		return String((await said())[0].json.output);
	}

	private async waitingExecutionOf(workflow: IWorkflowBase): Promise<string> {
		const latest = async () => (await this.stage.owner.executionsOf(workflow)).at(0);
		await until(async () => (await latest())?.status === 'waiting');
		return (await latest())?.id ?? '';
	}
}

const addressOf = (name: string) => `${name}@example.com`;

const videosOf = (name: string): ListVideo[] =>
	[1, 2].map((number) => ({
		name: `${name}-${number}`,
		model: 'vid-3.1',
		prompt: `Tree ${number}, ${name}`,
	}));

function nodeOf<T extends { name: string }>({ nodes }: { nodes: T[] }, name: string): T {
	const found = nodes.find((node) => node.name === name);
	if (!found) throw new Error(`There is no node ${name}`);
	return found;
}

/** The workflow with changed properties of one node. */
const changed = ({ nodes, ...rest }: WorkflowJson, name: string, change: Partial<Node>) => ({
	...rest,
	nodes: nodes.map((node) => (node.name === name ? { ...node, ...change } : node)),
});
