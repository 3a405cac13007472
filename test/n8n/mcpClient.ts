import type { IDataObject } from 'n8n-workflow';

interface Tool {
	name: string;
	inputSchema: { properties: Record<string, unknown> };
}

/** A client of an MCP server, over its transport “Streamable HTTP”. */
export class McpClient {
	private calls = 0;
	private session?: string;

	private constructor(
		private readonly url: string,
		private readonly token: string,
	) {}

	/** Throws with the HTTP status when the server does not let it in. */
	static async connect(url: string, token: string): Promise<McpClient> {
		const client = new McpClient(url, token);
		await client.request('initialize', {
			protocolVersion: '2025-03-26',
			capabilities: {},
			clientInfo: { name: 'test', version: '1.0.0' },
		});
		await client.send({ method: 'notifications/initialized' });
		return client;
	}

	async tools(): Promise<Tool[]> {
		const { tools } = await this.request<{ tools: Tool[] }>('tools/list');
		return tools;
	}

	/** Gives the first item of what a tool answers. */
	async call(name: string, values: IDataObject): Promise<IDataObject> {
		const { content } = await this.request<{ content: Array<{ text: string }> }>('tools/call', {
			name,
			arguments: values,
		});
		const [{ text }] = content;
		if (!/^[[{]/.test(text)) throw new Error(`${name} gave ${text}`);
		const [first] = [JSON.parse(text) as IDataObject | IDataObject[]].flat();
		return first;
	}

	private async request<T>(method: string, params: object = {}): Promise<T> {
		const id = ++this.calls;
		const text = await this.send({ id, method, params });
		// The server answers by JSON, or by a stream of events.
		const messages = text.startsWith('{')
			? [text]
			: text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
		const answers = messages.map((json) => JSON.parse(json) as { id?: number; result?: T });
		const answer = answers.find((message) => message.id === id);
		if (answer?.result === undefined) throw new Error(`${method} gave ${text}`);
		return answer.result;
	}

	private async send(message: object): Promise<string> {
		const answer = await fetch(this.url, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${this.token}`,
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(this.session !== undefined && { 'mcp-session-id': this.session }),
			},
			body: JSON.stringify({ jsonrpc: '2.0', ...message }),
		});
		const text = await answer.text();
		if (!answer.ok) throw new Error(`The MCP server gave ${answer.status}: ${text}`);
		this.session ??= answer.headers.get('mcp-session-id') ?? undefined;
		return text;
	}
}
