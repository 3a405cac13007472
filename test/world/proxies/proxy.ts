import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../../gateway';
import { freePort } from '../../n8n/n8n';
import { sampleVideo } from '../../support/data/samples';
import { registerUsers } from '../operations';
import { anyKey, describeSetting, startWorldGateway, type Setting } from '../outcomes';
import { startProgram, type Place, type Program } from '../program';

/** The facts that a server of the configuration file needs. */
export interface Site extends Place {
	/** Host and port of the server behind it. */
	target: string;
	/** Unlike all others. */
	name: string;
}

/** A proxy with realistic settings in front of the gateway. Unless it has a path of its own, files come through it too. */
export interface Proxy extends Pick<Setting, 'title'> {
	/** The server in the configuration file of its program. */
	server: (site: Site) => string;
	host?: Place['host'];
	scheme?: 'http' | 'https';
	/** The path of the base URL. */
	path?: string;
	/** Checks a response, to a list of models: it shows that the setting works. */
	shows?: (response: Response) => void;
}

interface Front {
	gateway: Gateway;
	url: string;
	places: Place[];
	servers: string[];
}

const urlOf = ({ scheme = 'http', path: prefix = '' }: Proxy, { host, port }: Place) =>
	`${scheme}://${host === '::1' ? '[::1]' : host}:${port}${prefix}`;

const placeOf = async ({ host = '127.0.0.1' }: Proxy): Promise<Place> => ({
	host,
	port: await freePort(),
});

/** Starts the gateway of a proxy, and says which servers stand in front of it. */
async function prepare(proxy: Proxy, name: string): Promise<Front> {
	const [front, files] = [await placeOf(proxy), await placeOf(proxy)];
	const servesFiles = proxy.path === undefined;
	const publicStorageUrl = servesFiles ? urlOf(proxy, files) : undefined;
	const gateway = await startWorldGateway({ publicStorageUrl });
	const server = (place: Place, target: string, suffix = '') =>
		proxy.server({ ...place, target: new URL(target).host, name: `${name}${suffix}` });
	return {
		gateway,
		url: urlOf(proxy, front),
		places: [front, ...(servesFiles ? [files] : [])],
		servers: [
			server(front, gateway.url),
			...(servesFiles ? [server(files, gateway.storageUrl, '-files')] : []),
		],
	};
}

/**
 * Runs every operation behind every proxy.
 * @param command writes one configuration with all servers, and returns how to start the program in the foreground
 */
export function describeProxies(
	proxies: Proxy[],
	command: (servers: string[], folder: string) => [string, string[]],
): void {
	const fronts = new Map<Proxy, Front>();
	let program: Program;
	let folder: string;

	beforeAll(async () => {
		registerUsers();
		await sampleVideo();
		folder = mkdtempSync(path.join(tmpdir(), 'world-'));
		copyCertificate(folder);
		for (const [index, proxy] of proxies.entries()) {
			fronts.set(proxy, await prepare(proxy, `site-${index}`));
		}
		const all = [...fronts.values()];
		const servers = all.flatMap((front) => front.servers);
		const places = all.flatMap((front) => front.places);
		program = await startProgram(...command(servers, folder), places);
	});
	afterAll(async () => {
		await program.stop();
		await Promise.all([...fronts.values()].map(async ({ gateway }) => await gateway.close()));
		rmSync(folder, { recursive: true, force: true });
	});

	it.each(proxies.filter(({ shows }) => shows))('really is set: $title', async (proxy) => {
		const headers = { authorization: `Bearer ${anyKey}`, 'accept-encoding': 'br, gzip' };
		proxy.shows?.(await fetch(`${fronts.get(proxy)!.url}/v1/models`, { headers }));
	});

	for (const proxy of proxies) describeSetting(proxy, () => fronts.get(proxy)!);
}

/** The certificate that NODE_EXTRA_CA_CERTS makes this process trust. */
export function copyCertificate(folder: string): void {
	const tls = path.join(__dirname, '../../fixtures/tls');
	copyFileSync(path.join(tls, 'certificate.pem'), path.join(folder, 'trusted.pem'));
	copyFileSync(path.join(tls, 'key.pem'), path.join(folder, 'trusted.key'));
}
