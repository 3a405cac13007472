import type { IDataObject } from 'n8n-workflow';

interface Tool {
	name: string;
	inputSchema: { properties: Record<string, unknown> };
}

/** A client of an MCP server, over the transport “Streamable HTTP”. */
export class McpClient {
	private calls = 0;
	private session?: string;

	private constructor(
		private readonly url: string,
		private readonly token: string,
	) {}

	/** @throws Error with the HTTP status when the server rejects the client */
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

	/** @returns the first item of a tool's result */
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
		// The server responds with JSON, or with a stream of events.
		const messages = text.startsWith('{')
			? [text]
			: text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
		const responses = messages.map((json) => JSON.parse(json) as { id?: number; result?: T });
		const response = responses.find((message) => message.id === id);
		if (response?.result === undefined) throw new Error(`${method} gave ${text}`);
		return response.result;
	}

	private async send(message: object): Promise<string> {
		const response = await fetch(this.url, {
			method: 'POST',
			headers: {
				authorization: `Bearer ${this.token}`,
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(this.session !== undefined && { 'mcp-session-id': this.session }),
			},
			body: JSON.stringify({ jsonrpc: '2.0', ...message }),
		});
		const text = await response.text();
		if (!response.ok) throw new Error(`The MCP server gave ${response.status}: ${text}`);
		this.session ??= response.headers.get('mcp-session-id') ?? undefined;
		return text;
	}
}
