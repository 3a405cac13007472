import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Counts messages. */
export interface Counter {
	readonly hits: number;
}

export interface Stop extends Counter {
	/** Lets the message pass if it has not come yet. */
	remove(): void;
}

interface StopRule {
	/** Whether a message of a client is meant. It contains the text of a statement, and its values. */
	when(message: string): boolean;
	/** How many such messages pass before. */
	skip?: number;
	/** `before`: the message does not reach the server. `after`: the server carries it out, and its response is lost. */
	moment: 'before' | 'after';
}

/** Stands before a database server, as a network that is slow or fails. */
export interface DatabaseProxy {
	readonly port: number;
	/** From now on, each message of a client takes this long to arrive. Each connection keeps its order. */
	delay(milliseconds: number): void;
	/** Stops one message: its client waits until the connection ends. */
	stop(rule: StopRule): Stop;
	/** Counts the responses that contain a text. */
	count(text: string): Counter;
	close(): Promise<void>;
}

/** Forwards connections on loopback to a server on another port. */
export async function startDatabaseProxy(target: number): Promise<DatabaseProxy> {
	let milliseconds = 0;
	const sockets = new Set<Socket>();
	const stops = new Set<StopRule & { passed: number; hits: number }>();
	const counters: Array<{ text: string; hits: number }> = [];
	/** The rule that stops a message. */
	const stopOf = (message: string) =>
		[...stops].find(
			(stop) => stop.hits === 0 && stop.when(message) && stop.passed++ >= (stop.skip ?? 0),
		);
	const server = createServer((client) => {
		const upstream = connect(target, '127.0.0.1');
		let last: Promise<unknown> = Promise.resolve();
		let areResponsesLost = false;
		client.on('data', (bytes) => {
			last = last.then(async () => {
				if (milliseconds > 0) await setTimeout(milliseconds);
				const stop = stops.size > 0 ? stopOf(bytes.toString('latin1')) : undefined;
				if (stop) stop.hits++;
				if (stop?.moment === 'after') areResponsesLost = true;
				if (stop?.moment !== 'before') upstream.write(bytes);
			});
		});
		upstream.on('data', (bytes) => {
			for (const counter of counters) if (bytes.includes(counter.text)) counter.hits++;
			if (!areResponsesLost) client.write(bytes);
		});
		for (const [socket, other] of [
			[client, upstream],
			[upstream, client],
		]) {
			sockets.add(socket);
			socket.setNoDelay();
			// A connection that breaks closes, too.
			socket.on('error', () => undefined);
			socket.once('close', () => {
				sockets.delete(socket);
				void last.then(() => other.destroy());
			});
		}
	});
	await once(server.listen(0, '127.0.0.1'), 'listening');
	return {
		port: (server.address() as AddressInfo).port,
		delay(value) {
			milliseconds = value;
		},
		stop(rule) {
			const stop = { ...rule, passed: 0, hits: 0 };
			stops.add(stop);
			return Object.assign(stop, { remove: () => void stops.delete(stop) });
		},
		count(text) {
			const counter = { text, hits: 0 };
			counters.push(counter);
			return counter;
		},
		async close() {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
}
