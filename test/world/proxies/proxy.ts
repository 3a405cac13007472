import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FaultAction, Gateway } from '../../../gateway';
import { run } from '../../n8n/commands';
import { freePort } from '../../n8n/n8n';
import { sampleVideo } from '../../support/data/samples';
import { nobody } from '../../support/http/scriptedServer';
import { registerUsers } from '../operations';
import {
	anyKey,
	describeSetting,
	printTable,
	seeAll,
	startWorldGateway,
	type Outcomes,
	type Setting,
} from '../outcomes';
import { startProgram, type Place, type Program } from '../program';

/** What a server of the configuration file needs to know. */
export interface Site extends Place {
	/** Host and port of the server behind it. */
	target: string;
	/** Unlike all others. */
	name: string;
}

/** A proxy with realistic settings in front of the gateway. Where nothing fails, files come through it too. */
export interface Proxy extends Setting {
	/** The server in the configuration file of its program. */
	server: (site: Site) => string;
	host?: Place['host'];
	scheme?: 'http' | 'https';
	/** The path of the base URL. */
	path?: string;
	/** What the gateway does with every request of the operations. */
	fault?: FaultAction;
	/** Nothing listens behind it. */
	isDown?: true;
	/** What the first request gets, a list of models by the test itself: it shows that the setting works. */
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

async function placeOf({ host = '127.0.0.1' }: Proxy): Promise<Place> {
	return { host, port: await freePort() };
}

/** Starts the gateway of a proxy, and says which servers stand in front of it. */
async function prepare(proxy: Proxy, name: string): Promise<Front> {
	const [front, files] = [await placeOf(proxy), await placeOf(proxy)];
	const servesFiles = proxy.ends === undefined && proxy.path === undefined;
	const publicStorageUrl = servesFiles ? urlOf(proxy, files) : undefined;
	const gateway = await startWorldGateway({ publicStorageUrl }, proxy.fault);
	const server = (place: Place, target: string, suffix = '') =>
		proxy.server({ ...place, target: new URL(target).host, name: `${name}${suffix}` });
	return {
		...{ gateway, url: urlOf(proxy, front) },
		places: [front, ...(servesFiles ? [files] : [])],
		servers: [
			server(front, proxy.isDown ? nobody : gateway.url),
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
	const started = new Map<Proxy, Promise<Outcomes>>();
	let program: Program;
	let folder: string;

	const start = async (proxy: Proxy): Promise<Outcomes> => {
		const { gateway, url } = fronts.get(proxy)!;
		if (proxy.shows) {
			const headers = { authorization: `Bearer ${anyKey}`, 'accept-encoding': 'br, gzip' };
			proxy.shows(await fetch(`${url}/v1/models`, { headers }));
		}
		return seeAll(proxy, { gateway, url });
	};
	const outcomesOf = async (proxy: Proxy): Promise<Outcomes> => {
		const outcomes = started.get(proxy) ?? start(proxy);
		started.set(proxy, outcomes);
		return await outcomes;
	};

	beforeAll(async () => {
		registerUsers();
		await sampleVideo();
		folder = mkdtempSync(path.join(tmpdir(), 'world-'));
		await makeCertificates(folder);
		for (const [index, proxy] of proxies.entries()) {
			fronts.set(proxy, await prepare(proxy, `site-${index}`));
		}
		const all = [...fronts.values()];
		const servers = all.flatMap((front) => front.servers);
		const places = all.flatMap((front) => front.places);
		program = await startProgram(...command(servers, folder), places);
		// Their operations wait for retries and time limits, so they begin together.
		const failing = proxies.filter(({ ends }) => ends);
		for (const proxy of failing) void outcomesOf(proxy).catch(() => undefined);
	});
	afterAll(async () => {
		await program.stop();
		await Promise.all([...fronts.values()].map(async ({ gateway }) => await gateway.close()));
		rmSync(folder, { recursive: true, force: true });
		printTable();
	});

	for (const proxy of proxies) describeSetting(proxy, async () => await outcomesOf(proxy));
}

/** One that NODE_EXTRA_CA_CERTS makes this process trust, and one that nobody knows. */
export async function makeCertificates(folder: string): Promise<void> {
	const file = (name: string) => path.join(folder, name);
	const tls = path.join(__dirname, '../../fixtures/tls');
	copyFileSync(path.join(tls, 'certificate.pem'), file('trusted.pem'));
	copyFileSync(path.join(tls, 'key.pem'), file('trusted.key'));
	const ask = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
	const give = ['-keyout', file('own.key'), '-out', file('own.pem'), '-subj', '/CN=localhost'];
	await run('openssl', [...ask, ...give], { quiet: true });
}
