import { isObject } from './json';

// ── Links that the service is given ──────────────────────────────────────────────────────────────

/** Hosts that only this machine can reach, as a regular expression. */
export const loopbackHosts = String.raw`localhost|[\w.-]+\.localhost|127(\.\d+){3}|\[::1\]`;
const loopback = new RegExp(`^(${loopbackHosts})$`, 'i');

/** Hosts that only its own network can reach. */
const ownNetwork =
	/^(10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|169\.254(\.\d+){2}|0\.0\.0\.0|\[f[cde].*\]|[^.[\]]+|.*\.(local|internal|lan))$/i;

/** Not by URL.canParse, which in Node 20 refuses an umlaut in a host once it has been called often. */
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
 * plain GET); continues the field's name. A gateway on this machine can fetch what this machine serves.
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
	if (loopback.test(hostname) || ownNetwork.test(hostname)) {
		return `must be a link that the gateway can fetch; ${hostname} is reachable from your own network only`;
	}
	return undefined;
}

// ── Links in the service's answers ("Endpoints" 2 and 13) ────────────────────────────────────────

/** Fields in which links come; who has a signed one has the file. */
export const linkNames = [
	'result_url',
	'video_url',
	'url',
	'download_url',
	'content_url',
	'output_url',
];

const likelyNames = /ur[il]|link|^(data|video|content|output|result|file|src|href)$/i;
const notTheVideo =
	/thumb|cover|poster|image|preview|frame|callback|webhook|audio|voice|input|prompt|status|poll|cancel|self|doc/i;

type Named = [name: string, entry: unknown];

/**
 * The link to the video in an answer: under a well-known name, or one that sounds like it, or any other;
 * of several, the one nearest to the surface. `base` resolves relative ones.
 */
export function findLink(value: unknown, base: string | undefined): string | undefined {
	let texts: Named[] = [];
	for (let level: Named[] = [['', value]]; level.length > 0; level = level.flatMap(within)) {
		texts = texts.concat(level.filter(([, entry]) => typeof entry === 'string'));
	}
	const named = linkNames.flatMap((known) => texts.filter(([name]) => name === known));
	const likely = texts.filter(([name]) => likelyNames.test(name));
	const links = [...named, ...likely].map(([, text]) => asLink(text, base));
	return [...links, ...texts.map(([, text]) => asLink(text))].find((link) => link !== undefined);
}

/** What is in an object, by its names, or in a list, by the list's. */
function within([name, entry]: Named): Named[] {
	if (Array.isArray(entry)) return entry.slice(0, 100).map((inner) => [name, inner]);
	const entries = isObject(entry) ? Object.entries(entry) : [];
	return entries.filter(([inner]) => !notTheVideo.test(inner));
}

/** The text itself when it is a link, byte for byte: signatures do not survive a rewrite. */
export function asLink(value: unknown, base?: string): string | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	if (/^https?:\/\/\S+$/i.test(text)) return URL.canParse(text) ? text : undefined;
	return base !== undefined && /^\/\S*$/.test(text) && URL.canParse(text, base)
		? new URL(text, base).href
		: undefined;
}
