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
