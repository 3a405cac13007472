import { GatewayError, type Remedy } from '../../gateway/errors/gatewayError';
import { adviceOf } from './advice';

/** What the network's own error says of an address to which no connection could be made. */
const unreachable: Array<[words: RegExp, problem: (address: string) => string]> = [
	[
		/ENOTFOUND|EAI_/,
		(address) =>
			`the server ${hostOf(address)} is not found. Check how the address is spelt, and the network of n8n.`,
	],
	[
		/ECONNREFUSED/,
		(address) =>
			`nothing answers at ${address}. Check the address and its port, and whether the service is running.`,
	],
	[
		/wrong version number|packet length|EPROTO/,
		() => 'the server does not speak https:// at this address. Check the address and its port.',
	],
	[
		/CERT|SELF_SIGNED|UNABLE_TO_|certificate/,
		() => 'the encrypted connection failed, because the certificate of the server is not accepted.',
	],
];

/**
 * What the dialog of the credential says when it was tested: what is wrong, and what to do.
 * @param field label of the address that was asked
 */
export function credentialProblem(error: unknown, field: string, address: string): string {
	if (!(error instanceof GatewayError)) throw error;
	const { message, reach, remedies, refusal, status, retry_can_help: mayPass } = error.failure;
	const at = `${field} ${address}`;
	switch (reach) {
		case 'none':
			return message;
		// n8n's helper for this test does not tell them apart.
		case 'unsent':
		case 'lost': {
			const detail = status === 0 ? detailOf(remedies) : `HTTP ${status}`;
			const known = unreachable.find(([words]) => words.test(detail));
			if (known) return `${field}: ${known[1](address)}`;
			return reach === 'unsent'
				? `${field}: the server cannot be reached (${detail}).`
				: `${at} gave no answer (${detail}). Check the address, or test again later.`;
		}
		case 'unreadable':
			return `The server at ${at} is not the gateway: it gave no list of models. Check the address, also its path.`;
		case 'answered':
			if (refusal === 'invalidKey') return 'The API key is not valid. Copy it again, as a whole.';
			if (refusal === 'notFound') {
				return `No gateway answers at ${at} (HTTP ${status}). Check the address, also its path.`;
			}
			// No model was asked for, and no content.
			if (status === 403) return `${message}. Ask the account's owner what this key may do.`;
			return `${message}. ${mayPass ? 'Test again later.' : adviceOf(remedies)}`;
	}
}

function detailOf(remedies: Remedy[]): string {
	return remedies.map((remedy) => ('detail' in remedy ? remedy.detail : '')).join('');
}

const hostOf = (address: string) => new URL(address).hostname;
