import { isObject } from './json';

// ── Links that are sent to the service ───────────────────────────────────────────────────────────

/** Hosts that only this machine can reach, as a regular expression. */
export const loopbackHosts = String.raw`localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\]`;
const loopback = new RegExp(`^(${loopbackHosts})$`, 'i');

/** Hosts that only the same private network can reach. */
const privateHost =
	/^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|169\.254(\.\d+){2}|0\.0\.0\.0|\[f[cde].*\]|[^.[\]]+|.*\.(local|internal|lan))$/i;

/** Avoids URL.canParse, which in Node 20 rejects a host with an umlaut after it has been called often. */
function urlOf(text: string): URL | undefined {
	try {
		return new URL(text);
	} catch {
		return undefined;
	}
}

export function isLoopback(address: string): boolean {
	return loopback.test(urlOf(address)?.hostname ?? '');
}

/**
 * Why the gateway could not fetch this link ("Resources", media item: a public https link, fetched by
 * plain GET); continues the field's name. A gateway on this machine can also fetch links to this machine.
 */
export function publicLinkProblem(link: string, gatewayUrl: string): string | undefined {
	const url = urlOf(link);
	if (url === undefined)
		return `must be a link that starts with https:// (it is "${link.slice(0, 80)}")`;
	if (isLoopback(link) && isLoopback(gatewayUrl)) return undefined;
	const { protocol, hostname } = url;
	if (protocol === 'data:') return 'must be a public https link; a data URL is not taken';
	if (protocol !== 'https:')
		return `must be a public https link, and this one starts with ${protocol}//`;
	if (loopback.test(hostname) || privateHost.test(hostname)) {
		return `must be a link that the gateway can fetch; ${hostname} is reachable from your own network only`;
	}
	return undefined;
}

// ── Links in the service's responses ("Endpoints" 2 and 13) ──────────────────────────────────────

/** Fields that hold links. Whoever has a signed link can fetch the file, so these are sensitive. */
export const linkNames = [
	'result_url',
	'video_url',
	'url',
	'download_url',
	'content_url',
	'output_url',
];

const likelyNames = /ur[il]|link|^(data|video|content|output|result|file|src|href)$/i;
const notVideoNames =
	/thumb|cover|poster|image|preview|frame|callback|webhook|audio|voice|input|prompt|status|poll|cancel|self|doc/i;

type NamedEntry = [name: string, entry: unknown];

/**
 * The link to the video in a response: preferably under a well-known name, then under a likely one, then under any
 * other; of several, the least nested. `base` resolves relative links.
 */
export function findLink(value: unknown, base: string | undefined): string | undefined {
	let texts: NamedEntry[] = [];
	for (
		let level: NamedEntry[] = [['', value]];
		level.length > 0;
		level = level.flatMap(entriesWithin)
	) {
		texts = texts.concat(level.filter(([, entry]) => typeof entry === 'string'));
	}
	const named = linkNames.flatMap((linkName) => texts.filter(([name]) => name === linkName));
	const likely = texts.filter(([name]) => likelyNames.test(name));
	const links = [...named, ...likely].map(([, text]) => asLink(text, base));
	return [...links, ...texts.map(([, text]) => asLink(text))].find((link) => link !== undefined);
}

/** The fields of an object by their names, or the entries of a list under the list's name. */
function entriesWithin([name, entry]: NamedEntry): NamedEntry[] {
	if (Array.isArray(entry)) return entry.slice(0, 100).map((inner) => [name, inner]);
	const entries = isObject(entry) ? Object.entries(entry) : [];
	return entries.filter(([inner]) => !notVideoNames.test(inner));
}

/** The text, unchanged byte for byte, when it is a link: a rewritten URL would break its signature. */
export function asLink(value: unknown, base?: string): string | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	if (/^https?:\/\/\S+$/i.test(text)) return URL.canParse(text) ? text : undefined;
	return base !== undefined && /^\/\S*$/.test(text) && URL.canParse(text, base)
		? new URL(text, base).href
		: undefined;
}
