import { once } from 'node:events';
import {
	createServer,
	STATUS_CODES,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { witness } from '../../../gateway/witness';

/** An address where nothing listens. Unlike the port of a closed server, this port is never reassigned. */
export const nobody = 'http://127.0.0.1:1';

export interface ReceivedRequest {
	method: string;
	/** Path and query, as sent. */
	path: string;
	headers: IncomingMessage['headers'];
	body: string;
	/** The body as it was sent: that of a form with files is no text. */
	bytes: Buffer;
}

/** The server's treatment of one request. */
export type Reply = (response: ServerResponse, request: ReceivedRequest) => void;

const servers = new Set<ScriptedServer>();

/** test/support/setup/cleanUp.ts calls it after each test. */
export async function closeServers(): Promise<void> {
	await Promise.all([...servers].map(async (server) => await server.close()));
}

/** A server on loopback that responds as the test says. It closes after the test. */
export async function startServer(...replies: Reply[]): Promise<ScriptedServer> {
	const server = new ScriptedServer(replies);
	await server.listening;
	return server;
}

export class ScriptedServer {
	readonly requests: ReceivedRequest[] = [];
	readonly listening: Promise<void>;
	url = '';
	private readonly server: Server;
	private readonly sockets = new Set<Socket>();
	private readonly isAnswered = new Map<number, () => void>();

	/** @param replies one for each request in turn; the last one also serves all later requests */
	constructor(private readonly replies: Reply[]) {
		this.server = createServer((request, response) => void this.serve(request, response));
		this.server.on('connection', (socket) => {
			this.sockets.add(socket);
			socket.on('error', () => undefined);
			socket.on('close', () => this.sockets.delete(socket));
		});
		this.listening = once(this.server.listen(0, '127.0.0.1'), 'listening').then(() => {
			this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
		});
		servers.add(this);
	}

	get openSockets(): number {
		return this.sockets.size;
	}

	async idle(): Promise<void> {
		await Promise.all(
			[...this.sockets].map(async (socket) => {
				await new Promise((resolve) => socket.once('close', resolve));
			}),
		);
	}

	/** Settles when this number of requests has arrived and the reply to the last of them has begun. */
	async received(count: number): Promise<void> {
		if (this.requests.length >= count) return;
		await new Promise<void>((resolve) => this.isAnswered.set(count, resolve));
	}

	async close(): Promise<void> {
		if (!servers.delete(this)) return;
		for (const socket of this.sockets) socket.destroy();
		await new Promise((resolve) => this.server.close(resolve));
	}

	private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		response.on('error', () => undefined);
		const pieces: Buffer[] = [];
		try {
			for await (const piece of request) pieces.push(piece as Buffer);
		} catch {
			return;
		}
		const bytes = Buffer.concat(pieces);
		const received: ReceivedRequest = {
			method: request.method ?? '',
			path: request.url ?? '',
			headers: request.headers,
			body: bytes.toString(),
			bytes,
		};
		const reply = this.replies[Math.min(this.requests.length, this.replies.length - 1)];
		witness.emit('request', { ...received, url: received.path });
		const count = this.requests.push(received);
		reply?.(response, received);
		this.isAnswered.get(count)?.();
	}
}

type Headers = Record<string, string>;

/** A complete response. */
export function answer(status: number, body: string | Uint8Array, headers: Headers = {}): Reply {
	return (response) => response.writeHead(status, headers).end(body);
}

export function json(body: unknown, status = 200, headers: Headers = {}): Reply {
	return answer(status, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
}

/** A page as nginx writes it. */
export const nginxPage = (status: number): string => {
	const title = [status, STATUS_CODES[status]].join(' ');
	return `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`;
};

export function page(status: number): Reply {
	return answer(status, nginxPage(status), { 'content-type': 'text/html' });
}

export function redirect(status: number, location: string): Reply {
	return answer(status, '', { location });
}

export const reset: Reply = (response) => void response.socket?.resetAndDestroy();

export const silence: Reply = () => undefined;

/** Sends the head and the beginning of a body that never ends. */
export function stall(beginning: string | Uint8Array, headers: Headers = {}, status = 200): Reply {
	return (response) => void response.writeHead(status, headers).write(beginning);
}

/** Sends a body that repeats a part without end, as fast as the other side reads it. */
export function endless(part: string, headers: Headers = {}, status = 200): Reply {
	return (response) => {
		response.writeHead(status, headers);
		const write = () => {
			while (!response.destroyed && response.write(part));
			response.once('drain', write);
		};
		write();
	};
}

/** Sends the head and the beginning of a body, and then breaks the connection. */
export function cut(beginning: string | Uint8Array, headers: Headers = {}, status = 200): Reply {
	return (response) => {
		// The head announces an end, by a length or by a last chunk, that never arrives.
		response.writeHead(status, headers).write(beginning, () => breakOff(response));
	};
}

/** Breaks the connection after the other side has had time to read what was sent. */
export function breakOff(response: ServerResponse): void {
	setTimeout(() => response.socket?.destroy(), 10);
}
