import { createHash } from 'node:crypto';
import { copyFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import path from 'node:path';
import { fastify } from 'fastify';
import manifest from '../../package.json';

const tls = path.join(__dirname, '../fixtures/tls');
const npmHost = 'registry.npmjs.org';

/** A registry on this machine that n8n and npm take for npm's. */
export interface Registry {
	/** The settings with which n8n gets there. */
	readonly env: Record<string, string>;
	/** The paths that were requested, in their order. */
	readonly requested: string[];
	close(): Promise<void>;
}

/**
 * Starts a registry that has this package only, behind a proxy that leads to it and to nothing else.
 * @param folder where n8n can read its certificate
 */
export async function startRegistry(tarball: string, folder: string): Promise<Registry> {
	const bytes = readFileSync(tarball);
	const digest = (algorithm: string, encoding: 'hex' | 'base64') =>
		createHash(algorithm).update(bytes).digest(encoding);
	const version = {
		...manifest,
		devDependencies: undefined,
		dist: {
			tarball: `https://${npmHost}/${manifest.name}/-/${path.basename(tarball)}`,
			shasum: digest('sha1', 'hex'),
			integrity: `sha512-${digest('sha512', 'base64')}`,
		},
	};
	const packument = {
		name: manifest.name,
		'dist-tags': { latest: manifest.version },
		versions: { [manifest.version]: version },
	};
	const requested: string[] = [];
	const registry = fastify({
		forceCloseConnections: true,
		https: {
			key: readFileSync(path.join(tls, 'key.pem')),
			cert: readFileSync(path.join(tls, 'certificate.pem')),
		},
	});
	registry.addHook('onRequest', async ({ url }) => void requested.push(url));
	registry.get(`/${manifest.name}`, () => packument);
	registry.get(`/${manifest.name}/latest`, () => version);
	registry.get(`/${manifest.name}/-/*`, () => bytes);
	await registry.listen({ port: 0, host: '127.0.0.1' });
	const { port } = registry.server.address() as AddressInfo;

	const proxy = createServer((_, response) => response.writeHead(502).end());
	const tunnels = new Set<Socket>();
	proxy.on('connect', ({ url }, client: Socket) => {
		client.on('error', () => undefined);
		if (url !== `${npmHost}:443`) return void client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
		const tunnel = connect(port, '127.0.0.1', () => {
			client.write('HTTP/1.1 200 Connection established\r\n\r\n');
			client.pipe(tunnel).pipe(client);
		});
		tunnels.add(tunnel.on('error', () => client.destroy()));
	});
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));

	const certificate = path.join(folder, 'registry.pem');
	copyFileSync(path.join(tls, 'certificate.pem'), certificate);
	return {
		env: {
			HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
			NO_PROXY: '127.0.0.1,localhost',
			NODE_EXTRA_CA_CERTS: certificate,
			npm_config_cafile: certificate,
		},
		requested,
		async close() {
			for (const tunnel of tunnels) tunnel.destroy();
			proxy.close();
			await registry.close();
		},
	};
}
