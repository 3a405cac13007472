import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Stands before a server, as a slow network does. */
export interface SlowProxy {
	readonly port: number;
	/** From now on, each message of a client takes this long to arrive. Each connection keeps its order. */
	delay(milliseconds: number): void;
	close(): Promise<void>;
}

/** Forwards connections on loopback to a server on another port. */
export async function startSlowProxy(target: number): Promise<SlowProxy> {
	let milliseconds = 0;
	const sockets = new Set<Socket>();
	const server = createServer((client) => {
		const upstream = connect(target, '127.0.0.1');
		let last: Promise<unknown> = Promise.resolve();
		client.on('data', (bytes) => {
			last = last.then(async () => {
				if (milliseconds > 0) await setTimeout(milliseconds);
				upstream.write(bytes);
			});
		});
		upstream.pipe(client);
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
		async close() {
			server.close();
			for (const socket of sockets) socket.destroy();
		},
	};
}
