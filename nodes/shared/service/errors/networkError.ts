import { isObject } from '../json';

export class TimeLimitError extends Error {
	constructor(readonly milliseconds: number) {
		super(`the time limit of ${Math.round(milliseconds / 100) / 10} s passed`);
	}
}

/** Each continues "… could not be reached: ". */
export const addressProblems = {
	unknownHost: 'its host name is not found',
	closedPort: 'nothing responds there',
	blocked: "n8n's SSRF protection blocks it",
	notTls: 'it does not speak https',
	badCertificate: 'its TLS certificate is not accepted',
};

export type AddressProblem = keyof typeof addressProblems;

/** By codes, messages and names of errors of Node.js and n8n. The HTTP client's own timeout may fire just before ours. */
const kinds: Array<[words: RegExp, kind: AddressProblem | 'timeout' | 'garbled']> = [
	[/^HPE_|^Parse Error: /, 'garbled'],
	[/ENOTFOUND|EAI_/, 'unknownHost'],
	[/ECONNREFUSED/, 'closedPort'],
	[/^The request was blocked because|^SsrfBlocked/, 'blocked'],
	[/wrong version number|packet length|EPROTO/, 'notTls'],
	[/CERT|SELF_SIGNED|UNABLE_TO_|certificate/, 'badCertificate'],
	[/\btimeout of \d+ ?ms exceeded|^the time limit of .* passed$/, 'timeout'],
];

interface NetworkError {
	/** `unreadable`: something that is no valid HTTP arrived, so the request was received. */
	reach: 'unsent' | 'lost' | 'unreadable';
	kind?: (typeof kinds)[number][1] | 'unreachable';
	/** The words of the innermost error. */
	text: string;
	/** The IP address and port to which no connection could be made. */
	address?: string;
}

export function readNetworkError(cause: unknown): NetworkError {
	const levels = levelsOf(cause);
	const words = levels
		.flatMap(({ code, httpCode, messages, message, name }) => [
			code,
			httpCode,
			message,
			name,
			...(Array.isArray(messages) ? messages : []),
		])
		.filter(isText);
	const [, kind] = kinds.find(([pattern]) => words.some((text) => pattern.test(text))) ?? [];
	const { code, message = '' } = levels.at(-1) ?? {};
	const text = isText(code) && !String(message).includes(code) ? `${code}, ${message}` : message;
	const connect = levels.find(
		({ syscall, address, port }) => syscall === 'connect' && isText(address) && port !== undefined,
	);
	const said = { text: String(text), address: connect && `${connect.address}:${connect.port}` };
	if (!levels.some(neverConnected)) {
		return { ...said, kind, reach: kind === 'garbled' ? 'unreadable' : 'lost' };
	}
	const isOfAddress = kind !== undefined && kind in addressProblems;
	return { ...said, kind: isOfAddress ? kind : 'unreachable', reach: 'unsent' };
}

/** The system calls of Node.js that come before a request is sent: the name lookup, and connecting. */
const beforeConnecting = /^(connect|getaddrinfo|query)/;

/**
 * Whether the connection was never ready to write. A server may break one in any way after it accepted an order, so the
 * text of an error proves nothing. If it is not clear, the request counts as sent.
 */
function neverConnected({ name, syscall, request }: ErrorLevel): boolean {
	if (isText(syscall) && beforeConnecting.test(syscall)) return true;
	// With these, n8n refuses an address before it connects.
	if (isText(name) && name.startsWith('SsrfBlocked')) return true;
	if (!isObject(request) || !('socket' in request)) return false;
	// Node.js gives a request its socket before the TLS handshake, and sends nothing until that has finished.
	const { socket } = request;
	return socket === null || (isObject(socket) && socket.secureConnecting === true);
}

type ErrorLevel = Record<string, unknown>;

/** HTTP clients wrap network errors in several layers of their own. The outermost comes first. */
function levelsOf(cause: unknown): ErrorLevel[] {
	const levels: ErrorLevel[] = [];
	let level = cause;
	while (isObject(level) && levels.length < 5) {
		levels.push(level);
		const { cause: next, errors, errorResponse }: ErrorLevel = level;
		// A host with several addresses causes one error for each of them.
		level = next ?? (Array.isArray(errors) ? errors[0] : errorResponse);
	}
	return levels;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
