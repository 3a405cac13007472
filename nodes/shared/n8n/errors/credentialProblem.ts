import { GatewayError, type FailureKind } from '../../service/errors/gatewayError';
import { adviceOf, allowBySsrf, trustCertificate } from './advice';

/** The address that was tested, and the label of its field. */
interface Tested {
	field: string;
	address: string;
}

/** What to say in the dialog about some kinds of failure. */
const problems: Partial<Record<FailureKind, (tested: Tested) => string>> = {
	unknownHost: ({ field, address }) =>
		`${field}: the server ${hostOf(address)} is not found. Check how the address is spelt, and the network of n8n.`,
	closedPort: ({ field, address }) =>
		`${field}: nothing responds at ${address}. Check the address and its port, and whether the service is running.`,
	blocked: ({ field, address }) =>
		`${field}: n8n's SSRF protection blocks ${hostOf(address)}. ${allowBySsrf('it')}`,
	notTls: ({ field }) =>
		`${field}: the server does not speak https:// at this address. Check the address and its port.`,
	badCertificate: ({ field }) =>
		`${field}: the encrypted connection failed, because the certificate of the server is not accepted. ${trustCertificate('the server')}`,
	invalidKey: () => 'The API key is not valid. Copy it again, as a whole.',
	notFound: ({ field, address }) =>
		`No gateway responds at ${field} ${address}. Check the address, also its path.`,
};

/**
 * The message in the credential's dialog after a failed test: what is wrong, and what to do.
 * @param field label of the address that was tested
 */
export function credentialProblem(error: unknown, field: string, address: string): string {
	if (!(error instanceof GatewayError)) throw error;
	const { failure } = error;
	const { message, reach, kind, network, status, denies, retry_can_help: canRetry } = failure;
	if (reach === 'none') return message;
	const known = kind && problems[kind];
	if (known) return known({ field, address });
	switch (reach) {
		case 'unreadable':
			return `The server at ${field} ${address} is not the gateway: it gave no list of models. Check the address, also its path.`;
		case 'answered':
			// The test sends no model and no content, so only the key can be the cause.
			if (denies === 'key') return `${message}. Ask the account's owner what this key may do.`;
			return `${message}. ${canRetry ? 'Test again later.' : adviceOf(failure)}`;
		default:
			return `${field} ${address} gave no response (${network ?? `HTTP ${status}`}). Check the address, or test again later.`;
	}
}

const hostOf = (address: string) => new URL(address).hostname;
