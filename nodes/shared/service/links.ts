import { networkOf } from './addresses';
import { maxLinkLength } from './protocol/bounds';
import { sharePageProblem } from './sharePages';

// ── Links that are sent to the service ───────────────────────────────────────────────────────────

/** Hosts of examples (RFC 2606). Their links come from documentation that was followed too closely. */
const exampleHost = /(?:^|\.)example\.(?:com|org|net)\.?$/i;

/** Avoids URL.canParse, which in Node 20 rejects a host with an umlaut after it has been called often. */
export function parseUrl(text: string, base?: string): URL | undefined {
	try {
		return new URL(text, base);
	} catch {
		return undefined;
	}
}

export function isLoopback(address: string): boolean {
	const url = parseUrl(address);
	return url !== undefined && networkOf(url.hostname) === 'loopback';
}

/** A Windows path, a network drive, or a path below a folder that only computers have. */
const computerPath = /^([a-z]:[\\/]|\\\\|~\/|file:|\/(home|users|volumes|tmp|mnt|var|root|opt)\/)/i;

/**
 * Why a link leads to no file; continues the field's name. A text that is no link has no problem here.
 * @param multipleLinksHint says what to do with several links
 */
export function linkProblem(link: string, multipleLinksHint = ''): string | undefined {
	if (link === '') return 'is empty';
	if (link.length > maxLinkLength && !/^data:/i.test(link)) {
		return `is too long for a link (it has ${link.length} characters)`;
	}
	if (computerPath.test(link)) {
		return `is a path on a computer, not a link (it is "${link.slice(0, 80)}"); upload the file, and give its public link`;
	}
	const count = countLinks(link);
	if (count > 1)
		return `must be one link (it holds ${count})${multipleLinksHint && `: ${multipleLinksHint}`}`;
	const url = parseUrl(link);
	if (url === undefined || url.protocol === 'data:') return undefined;
	return /\p{Cc}/u.test(link) ? 'must have no line break or tab inside' : sharePageProblem(url);
}

/** The number of links side by side; a link within the query of another one does not count. */
function countLinks(text: string): number {
	const parts = text.split(/[\s,;](?=https?:\/\/)/i).filter((part) => /^https?:/i.test(part));
	const areSeparate = /\s/.test(text) || parts[0]?.split('://').length === 2;
	return areSeparate ? parts.length : 1;
}

interface LinkRules {
	multipleLinksHint?: string;
	/** Whether the link may hold the image itself ("Resources", message). */
	takesDataUrl?: boolean;
	/** Whether the service may accept what is no web link, such as an ID of its own. */
	anyProtocol?: boolean;
}

/**
 * Why the gateway would refuse a link, or could not fetch it ("Resources", media item and message; "Endpoints" 9: https
 * links only); continues the field's name. A gateway on this machine can also fetch links to this machine.
 */
export function publicLinkProblem(
	link: string,
	gatewayUrl: string,
	{ multipleLinksHint, takesDataUrl = false, anyProtocol = false }: LinkRules = {},
): string | undefined {
	const problem = linkProblem(link, multipleLinksHint);
	if (problem !== undefined) return problem;
	if (takesDataUrl && /^data:image\//i.test(link)) return undefined;
	const url = parseUrl(link);
	if (url === undefined || !/^https?:$/.test(url.protocol)) {
		return anyProtocol ? undefined : otherLinkProblem(link, { url, takesDataUrl });
	}
	if (isLoopback(link) && isLoopback(gatewayUrl)) return undefined;
	const { protocol, hostname } = url;
	if (protocol !== 'https:') {
		return `must be a public https link, and this one starts with ${protocol}//`;
	}
	if (exampleHost.test(hostname)) {
		return `is only an example; put in the link to a file of your own (it is "${link.slice(0, 80)}")`;
	}
	return networkOf(hostname) !== 'public'
		? `must be a link that the gateway can fetch; ${hostname} is reachable from your own network only`
		: undefined;
}

function otherLinkProblem(
	link: string,
	{ url, takesDataUrl }: { url: URL | undefined; takesDataUrl: boolean },
): string {
	if (takesDataUrl) return 'must be an https link or a data URL of an image';
	if (url === undefined)
		return `must be a link that starts with https:// (it is "${link.slice(0, 80)}")`;
	const { protocol } = url;
	return protocol === 'data:'
		? 'must be a public https link; a data URL is not taken'
		: `must be a public https link, and this one starts with ${protocol}//`;
}

/** A link as browsers send it. Anything else, such as an ID of the service, is unchanged. */
export function encodedLink(text: string): string {
	const link = asLink(text) ?? text.trim();
	return link.replace(
		/^https?:\/\/[^/?#\s]*[^!-~/?#][^/?#\s]*/i,
		(origin) => parseUrl(origin)?.origin ?? origin,
	);
}

// ── Links in the service's responses ("Endpoints" 2 and 13) ──────────────────────────────────────

/** No link has these characters, nor is it followed by another one. */
const notInLink = /[\p{Cc}\u2028\u2029]|\shttps?:\/\//iu;

/**
 * The text when it is a link. Spaces and letters beyond ASCII are percent-encoded, since no request can carry them. All
 * else is unchanged byte for byte: a rewritten URL would break its signature.
 */
export function asLink(value: unknown, base?: string): string | undefined {
	const text = typeof value === 'string' ? value.trim() : '';
	if (!/^(https?:\/\/|\/)/i.test(text)) return undefined;
	if (text.length > maxLinkLength || notInLink.test(text)) return undefined;
	const [origin] = /^https?:\/\/[^/?#\s]+/i.exec(text) ?? [];
	if (origin !== undefined) {
		const link = origin + text.slice(origin.length).replace(/[^!-~]+/g, percentEncoded);
		return parseUrl(link) && link;
	}
	return base !== undefined && /^\/(?!\s)/.test(text) ? parseUrl(text, base)?.href : undefined;
}

const percentEncoded = (text: string) =>
	[...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase()}`).join('');
