import { readFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import path from 'node:path';
import tls, { type ConnectionOptions, type SecureVersion, type TLSSocket } from 'node:tls';

const file = (name: string) => readFileSync(path.join(__dirname, '../../fixtures/tls', name));

const certificate = file('certificate.pem');

/** Makes Node.js trust the TLS server. @returns undoes it */
export function trustCertificate(): () => void {
	const { connect } = tls;
	tls.connect = ((options: ConnectionOptions) =>
		connect({ ...options, ca: certificate })) as typeof connect;
	return () => void (tls.connect = connect);
}

/** The point that a connection has reached when it breaks. */
export const moments = ['connected', 'greeted', 'secured', 'accepted', 'responding'] as const;
export type Moment = (typeof moments)[number];

/** The bytes that the server sends instead of the TLS record that is due. */
const ends = {
	alert: (socket: Socket) => void socket.write(Buffer.from([21, 3, 3, 0, 2, 2, 80])),
	garbage: (socket: Socket) =>
		void socket.write(Buffer.from(`\x17\x03\x03\x00\x20${'x'.repeat(32)}`, 'latin1')),
	plainText: (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n{}'),
	end: (socket: Socket) => void socket.end(),
	reset: (socket: Socket) => void socket.resetAndDestroy(),
};
export type End = keyof typeof ends;
export const allEnds = Object.keys(ends) as End[];

interface Break {
	version: SecureVersion;
	at: Moment;
	by: End;
	/** How many connections break; the others work. */
	times: number;
}

/** A TLS server in front of an HTTP server on this machine. Its certificate is self-signed. */
interface BreakingTls {
	/** As an origin. */
	url: string;
	readonly connections: number;
	close(): Promise<void>;
}

/** Starts a TLS server that passes everything on to `target` and back, and breaks connections on the way. */
export async function startBreakingTls(
	target: string,
	{ version, at, by, times }: Break,
): Promise<BreakingTls> {
	const sockets = new Set<Socket>();
	const own = <S extends Socket>(socket: S): S => {
		sockets.add(socket);
		socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
		return socket;
	};
	let connections = 0;
	/** By the port of its connection to the TLS server behind. */
	const breaks = new Map<number, (moment: Moment) => boolean>();

	const secured = (client: TLSSocket) => {
		own(client);
		const broke = breaks.get(client.remotePort ?? 0) ?? (() => false);
		if (broke('secured')) return;
		const server = own(connect(Number(new URL(target).port), '127.0.0.1'));
		client.pipe(server);
		server.on('data', (bytes: Buffer) => {
			if (broke('accepted')) return;
			const [head, rest] = [bytes.subarray(0, 40), bytes.subarray(40)];
			client.write(head, () => {
				if (!broke('responding')) client.write(rest);
			});
		});
		server.on('end', () => client.end());
		client.on('close', () => server.destroy());
	};
	const key = { key: file('key.pem'), cert: certificate };
	const behind = tls.createServer({ ...key, minVersion: version, maxVersion: version }, secured);
	behind.on('tlsClientError', () => undefined);
	const behindPort = await listen(behind);

	const front = createServer((client) => {
		own(client);
		const isBroken = connections++ < times;
		let hasBroken = false;
		const broke = (moment: Moment) => {
			if (isBroken && !hasBroken && moment === at) {
				hasBroken = true;
				ends[by](client);
			}
			return hasBroken;
		};
		if (broke('connected')) return;
		const server = own(connect(behindPort, '127.0.0.1'));
		server.on('connect', () => breaks.set(server.localPort ?? 0, broke));
		client.on('data', (bytes: Buffer) => {
			if (!broke('greeted')) server.write(bytes);
		});
		server.on('data', (bytes: Buffer) => {
			if (!hasBroken) client.write(bytes);
		});
		server.on('end', () => client.end());
		client.on('close', () => server.destroy());
	});
	const port = await listen(front);
	return {
		url: `https://127.0.0.1:${port}`,
		get connections() {
			return connections;
		},
		async close() {
			for (const socket of sockets) socket.destroy();
			await Promise.all([front, behind].map(async (server) => await end(server)));
		},
	};
}

async function listen(server: Server): Promise<number> {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return (server.address() as AddressInfo).port;
}

async function end(server: Server): Promise<void> {
	await new Promise<void>((resolve) => server.close(() => resolve()));
}
