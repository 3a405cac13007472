import type { IBinaryData, IDataObject, IRunExecutionData, IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Gateway } from '../gateway';
import type { WorkflowJson } from '../harness/workflow';
import { testedVersion } from './installation';

export const ownerAccount = {
	email: 'owner@example.com',
	password: 'Playground1',
	firstName: 'Owner',
	lastName: 'Here',
};

/** n8n ties a login to the browser that it was made in. */
export const browserId = 'model-gateway-tests';

export interface Execution {
	id: string;
	status: string;
	/** Times in ISO 8601; those of a parked execution span all its passes. */
	startedAt: string;
	stoppedAt: string;
	data: IRunExecutionData;
}

export const isUnderWay = ({ status }: Pick<Execution, 'status'>) =>
	['new', 'running'].includes(status);
/** Whether it has not ended: it may be parked. */
export const isOpen = (execution: Pick<Execution, 'status'>) =>
	isUnderWay(execution) || execution.status === 'waiting';

export interface CredentialReference {
	id: string;
	name: string;
}

/** The owner of an n8n, who does by its REST interface what the editor does by it. */
export class Owner {
	private constructor(
		readonly url: string,
		/** Value of the cookie `n8n-auth`. */
		readonly cookie: string,
	) {}

	/** Makes the owner's account in a new n8n, or signs in where it was made before. */
	static async of({ url }: { url: string }): Promise<Owner> {
		const { email, password } = ownerAccount;
		const made = await post(`${url}/rest/owner/setup`, ownerAccount);
		const answer = made.ok
			? made
			: await post(`${url}/rest/login`, { emailOrLdapLoginId: email, password });
		const cookie = answer.headers
			.getSetCookie()
			.map((line) => /^n8n-auth=([^;]+)/.exec(line)?.[1])
			.find((value) => value !== undefined);
		if (cookie === undefined) throw new Error(`n8n let nobody in: ${await answer.text()}`);
		return new Owner(url, cookie);
	}

	async request<T>(method: string, path: string, body?: object): Promise<T> {
		const answer = await fetch(`${this.url}/rest${path}`, {
			method,
			headers: { ...headers, cookie: `n8n-auth=${this.cookie}` },
			body: body && JSON.stringify(body),
		});
		const text = await answer.text();
		if (!answer.ok) throw new Error(`${method} ${path} gave ${answer.status}: ${text}`);
		return (JSON.parse(text) as { data: T }).data;
	}

	/** A credential for a gateway that runs beside n8n. */
	async createCredential(
		{ url, apiKey, backupUrl }: Pick<Gateway, 'url' | 'apiKey' | 'backupUrl'>,
		more: IDataObject = {},
	): Promise<CredentialReference> {
		const data = { apiKey, baseUrl: url, backupUrl, ...more };
		return await this.createCredentialOf('modelGatewayApi', data);
	}

	async createCredentialOf(type: string, data: IDataObject): Promise<CredentialReference> {
		const name = type === 'modelGatewayApi' ? 'Model Gateway account' : type;
		const { id } = await this.request<{ id: string }>('POST', '/credentials', { name, type, data });
		return { id, name };
	}

	/** Gives the workflow and its nodes what the editor would give them, where they do not have it. */
	async createWorkflow(workflow: WorkflowJson): Promise<IWorkflowBase & { versionId: string }> {
		return await this.request('POST', '/workflows', {
			...{ name: `Test ${randomUUID()}`, settings: { executionOrder: 'v1' } },
			...{ connections: {}, active: false },
			...workflow,
			nodes: workflow.nodes.map((node, index) => ({
				...{ id: randomUUID(), typeVersion: 1, position: [index * 220, 0] },
				// Without it, n8n 1 answers at a longer path.
				...(node.type.endsWith('.webhook') && { webhookId: randomUUID() }),
				...node,
			})),
		});
	}

	/** Makes its webhooks, forms and schedules work. */
	async publish({ id, versionId }: { id: string; versionId: string }): Promise<void> {
		await this.request('POST', `/workflows/${id}/activate`, { versionId });
	}

	/** Saves a workflow whose webhooks, forms and schedules work. */
	async createPublished(workflow: WorkflowJson): Promise<IWorkflowBase> {
		const saved = await this.createWorkflow(workflow);
		await this.publish(saved);
		return saved;
	}

	/** Makes other workflows able to call it. n8n 1 calls it as it was saved, and refuses to publish it. */
	async publishCalled(workflow: { id: string; versionId: string }): Promise<void> {
		if (!testedVersion.startsWith('1.')) await this.publish(workflow);
	}

	/** What the button "Execute workflow" does. Gives the execution's id. */
	async start(workflow: IWorkflowBase): Promise<string> {
		const trigger = workflow.nodes.find(({ type }) => /trigger/i.test(type));
		const { executionId } = await this.request<{ executionId: string }>(
			'POST',
			`/workflows/${workflow.id}/run`,
			// n8n 1 runs what it is sent, n8n 2 what it has stored.
			{ workflowData: workflow, triggerToStartFrom: { name: trigger?.name } },
		);
		return executionId;
	}

	/** Waits until an execution has ended. */
	async ended(id: string, seconds = 120): Promise<Execution> {
		for (const deadline = Date.now() + seconds * 1000; Date.now() < deadline;) {
			const execution = await this.execution(id);
			// n8n 1 stores the status a moment before the data.
			const isStored = (execution.data as IRunExecutionData | undefined) !== undefined;
			if (!isOpen(execution) && isStored) return execution;
			await setTimeout(250);
		}
		throw new Error(`Execution ${id} did not end within ${seconds} s`);
	}

	async run(workflow: WorkflowJson): Promise<Execution> {
		return await this.ended(await this.start(await this.createWorkflow(workflow)));
	}

	async execution(id: string): Promise<Execution> {
		const { parse } = await import('flatted');
		const stored = await this.request<Omit<Execution, 'data'> & { data: string }>(
			'GET',
			`/executions/${id}`,
		);
		const { status, startedAt, stoppedAt } = stored;
		const data = parse(stored.data) as IRunExecutionData;
		return { id, status, startedAt, stoppedAt, data };
	}

	/** The latest executions of a workflow, newest first. */
	async executionsOf(
		{ id }: Pick<IWorkflowBase, 'id'>,
		limit = 10,
	): Promise<Array<{ id: string; status: string }>> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId: id }));
		const { results } = await this.request<{ results: Array<{ id: string; status: string }> }>(
			'GET',
			`/executions?filter=${filter}&limit=${limit}`,
		);
		return results;
	}
}

const headers = {
	'content-type': 'application/json',
	'browser-id': browserId,
	// On a busy machine n8n may hang up on a connection that was kept open, just as it is used again.
	connection: 'close',
};

async function post(url: string, body: IDataObject): Promise<Response> {
	return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Asks a webhook that was published just now: n8n says so a moment before it answers there. */
export async function fetchPublished(url: string, request?: RequestInit): Promise<Response> {
	for (let tries = 0; ; tries++) {
		const answer = await fetch(url, request);
		if (answer.status !== 404 || tries === 50) return answer;
		await setTimeout(100);
	}
}

/** Calls a webhook by its path. Throws when it is not taken. */
export async function callWebhook(
	base: string,
	hook: string,
	query: Record<string, string> = {},
): Promise<void> {
	const answer = await fetchPublished(`${base}/webhook/${hook}?${new URLSearchParams(query)}`);
	const text = await answer.text();
	if (!answer.ok) throw new Error(`The webhook ${hook} gave ${answer.status}: ${text}`);
}

/** The items that a node put out in its last run. */
export function itemsOf({ data }: Execution, node: string, output = 0) {
	const run = data.resultData.runData[node]?.at(-1);
	return run?.data?.main?.[output] ?? [];
}

/** The content of a file, wherever n8n keeps it. */
export async function bytesOf(
	file: IBinaryData | undefined,
	{ url, cookie }: Owner,
): Promise<Buffer> {
	if (file?.id === undefined) return Buffer.from(file?.data ?? '', 'base64');
	const query = new URLSearchParams({ id: file.id, action: 'download' });
	const answer = await fetch(`${url}/rest/binary-data?${query}`, {
		headers: { ...headers, cookie: `n8n-auth=${cookie}` },
	});
	return Buffer.from(await answer.arrayBuffer());
}
