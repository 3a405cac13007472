import type { IBinaryData, IDataObject, IRunExecutionData, IWorkflowBase } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Gateway } from '../../gateway';
import type { WorkflowJson } from '../harness/workflow';
import { testedVersion } from './installation';

export const ownerAccount = {
	email: 'owner@example.com',
	password: 'Playground1',
	firstName: 'Owner',
	lastName: 'Here',
};

/** n8n ties a login to the browser in which it was made. */
export const browserId = 'model-gateway-tests';

export interface Execution {
	id: string;
	status: string;
	/** Times in ISO 8601; those of a parked execution span all its passes. */
	startedAt: string;
	stoppedAt: string;
	/** When a parked execution is due, in ISO 8601. */
	waitTill: string | null;
	data: IRunExecutionData;
}

export const isUnderWay = ({ status }: Pick<Execution, 'status'>) =>
	['new', 'running'].includes(status);
/** Whether it has not ended; it may be parked. */
export const isOpen = (execution: Pick<Execution, 'status'>) =>
	isUnderWay(execution) || execution.status === 'waiting';

export interface CredentialReference {
	id: string;
	name: string;
}

/** The owner of an n8n, who uses its REST interface as the editor does. */
export class Owner {
	private constructor(
		readonly url: string,
		/** Value of the cookie `n8n-auth`. */
		readonly cookie: string,
	) {}

	/** Creates the owner's account in a new n8n, or signs in if it exists. */
	static async of({ url }: { url: string }): Promise<Owner> {
		const { email, password } = ownerAccount;
		const made = await post(`${url}/rest/owner/setup`, ownerAccount);
		const response = made.ok
			? made
			: await post(`${url}/rest/login`, { emailOrLdapLoginId: email, password });
		const cookie = response.headers
			.getSetCookie()
			.map((line) => /^n8n-auth=([^;]+)/.exec(line)?.[1])
			.find((value) => value !== undefined);
		if (cookie === undefined) throw new Error(`n8n refused the login: ${await response.text()}`);
		return new Owner(url, cookie);
	}

	async request<T>(method: string, path: string, body?: object, tries = 20): Promise<T> {
		const response = await fetch(`${this.url}/rest${path}`, {
			method,
			headers: { ...headers, cookie: `n8n-auth=${this.cookie}` },
			body: body && JSON.stringify(body),
		});
		const text = await response.text();
		// On a busy machine, n8n refuses everything for a moment, before it does anything.
		if (text.includes('Database is not ready') && tries > 1) {
			await setTimeout(500);
			return await this.request(method, path, body, tries - 1);
		}
		if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text}`);
		return (JSON.parse(text) as { data: T }).data;
	}

	/** Creates a credential for a gateway that runs next to n8n. */
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

	async removeCredentials(): Promise<void> {
		const all = await this.request<Array<{ id: string; type: string }>>('GET', '/credentials');
		for (const { id, type } of all) {
			if (type === 'modelGatewayApi') await this.request('DELETE', `/credentials/${id}`);
		}
	}

	/** Saves a workflow. Adds what the editor would add to it and its nodes, where it is missing. */
	async createWorkflow(workflow: WorkflowJson): Promise<IWorkflowBase & { versionId: string }> {
		return await this.request('POST', '/workflows', {
			name: `Test ${randomUUID()}`,
			settings: { executionOrder: 'v1' },
			connections: {},
			active: false,
			...workflow,
			nodes: workflow.nodes.map((node, index) => ({
				id: randomUUID(),
				typeVersion: 1,
				position: [index * 220, 0],
				// Without it, n8n 1 uses a longer path.
				...(node.type.endsWith('.webhook') && { webhookId: randomUUID() }),
				...node,
			})),
		});
	}

	/** Makes the webhooks, forms and schedules of a workflow work. */
	async publish({ id, versionId }: { id: string; versionId: string }): Promise<void> {
		await this.request('POST', `/workflows/${id}/activate`, { versionId });
	}

	async createPublished(workflow: WorkflowJson): Promise<IWorkflowBase> {
		const saved = await this.createWorkflow(workflow);
		await this.publish(saved);
		return saved;
	}

	/** Lets other workflows call it. n8n 1 calls it as it was saved, and refuses to publish it. */
	async publishCalled(workflow: { id: string; versionId: string }): Promise<void> {
		if (!testedVersion.startsWith('1.')) await this.publish(workflow);
	}

	/** Does what the button "Execute workflow" does. @returns the ID of the execution */
	async start(workflow: IWorkflowBase): Promise<string> {
		const trigger = workflow.nodes.find(({ type }) => /trigger/i.test(type));
		const { executionId } = await this.request<{ executionId: string }>(
			'POST',
			`/workflows/${workflow.id}/run`,
			// n8n 1 runs the workflow in the request, n8n 2 the stored one.
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
		const { status, startedAt, stoppedAt, waitTill } = stored;
		const data = parse(stored.data) as IRunExecutionData;
		return { id, status, startedAt, stoppedAt, waitTill, data };
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
	// On a busy machine, n8n may close a kept-alive connection at the moment when it is used again.
	connection: 'close',
};

async function post(url: string, body: IDataObject): Promise<Response> {
	return await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Calls a webhook that was just published: n8n reports it as published a moment before it serves it. */
export async function fetchPublished(url: string, request?: RequestInit): Promise<Response> {
	for (let tries = 0; ; tries++) {
		const response = await fetch(url, request);
		if (response.status !== 404 || tries === 50) return response;
		await setTimeout(100);
	}
}

/** Calls a webhook by its path. @throws Error when n8n refuses the call */
export async function callWebhook(
	base: string,
	hook: string,
	query: Record<string, string> = {},
): Promise<void> {
	const url = `${base}/webhook/${hook}?${new URLSearchParams(query)}`;
	const response = await fetchPublished(url, { headers: { connection: 'close' } });
	const text = await response.text();
	if (!response.ok) throw new Error(`The webhook ${hook} gave ${response.status}: ${text}`);
}

/** The output items of a node's last run. */
export function itemsOf({ data }: Execution, node: string, output = 0) {
	const run = data.resultData.runData[node]?.at(-1);
	return run?.data?.main?.[output] ?? [];
}

/** The content of a file, wherever n8n stores it. */
export async function bytesOf(
	file: IBinaryData | undefined,
	{ url, cookie }: Owner,
): Promise<Buffer> {
	if (file?.id === undefined) return Buffer.from(file?.data ?? '', 'base64');
	const query = new URLSearchParams({ id: file.id, action: 'download' });
	const response = await fetch(`${url}/rest/binary-data?${query}`, {
		headers: { ...headers, cookie: `n8n-auth=${cookie}` },
	});
	return Buffer.from(await response.arrayBuffer());
}
