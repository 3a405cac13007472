import { GatewayError } from '../../gateway/errors/gatewayError';
import type { AddressProblem } from '../../gateway/errors/networkError';
import { adviceOf, allowBySsrf } from './advice';

/** What to say about an address to which no connection could be made. */
const addressAdvice: Record<AddressProblem, (address: string) => string> = {
	notFound: (address) =>
		`the server ${hostOf(address)} is not found. Check how the address is spelt, and the network of n8n.`,
	refused: (address) =>
		`nothing responds at ${address}. Check the address and its port, and whether the service is running.`,
	blocked: (address) => `n8n's SSRF protection blocks ${hostOf(address)}. ${allowBySsrf('it')}`,
	notTls: () =>
		'the server does not speak https:// at this address. Check the address and its port.',
	badCertificate: () =>
		'the encrypted connection failed, because the certificate of the server is not accepted. If the server, or a proxy before it, has a certificate of its own, n8n has to trust it (NODE_EXTRA_CA_CERTS).',
};

/**
 * The message in the credential's dialog after a failed test: what is wrong, and what to do.
 * @param field label of the address that was tested
 */
export function credentialProblem(error: unknown, field: string, address: string): string {
	if (!(error instanceof GatewayError)) throw error;
	const { failure } = error;
	const { message, reach, network, refusal, status, retry_can_help: canRetry } = failure;
	const at = `${field} ${address}`;
	switch (reach) {
		case 'none':
			return message;
		// n8n's helper for this test does not distinguish the two.
		case 'unsent':
		case 'lost':
		case 'proxied': {
			const { detail, problem } = network ?? { detail: `HTTP ${status}` };
			if (problem) return `${field}: ${addressAdvice[problem](address)}`;
			return reach === 'unsent'
				? `${field}: the server cannot be reached (${detail}).`
				: `${at} gave no response (${detail}). Check the address, or test again later.`;
		}
		case 'unreadable':
			return `The server at ${at} is not the gateway: it gave no list of models. Check the address, also its path.`;
		case 'answered':
			if (refusal === 'invalidKey') return 'The API key is not valid. Copy it again, as a whole.';
			if (refusal === 'notFound') {
				return `No gateway responds at ${at} (HTTP ${status}). Check the address, also its path.`;
			}
			// The test sends no model and no content, so only the key can be the cause.
			if (status === 403 && refusal !== 'proxyRefusal')
				return `${message}. Ask the account's owner what this key may do.`;
			return `${message}. ${canRetry ? 'Test again later.' : adviceOf(failure)}`;
	}
}

const hostOf = (address: string) => new URL(address).hostname;
