import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { noResponse } from '../../../../nodes/shared/gateway/errors/requestErrors';
import { TimeLimitError } from '../../../../nodes/shared/gateway/errors/networkError';
import { credentialProblem } from '../../../../nodes/shared/n8n/errors/credentialProblem';

const credential = { apiKey: 'sk-1', baseUrl: 'https://gateway.example' };

describe('an address that cannot be reached', () => {
	it.each([
		[
			Object.assign(new Error('self-signed certificate'), {
				...{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', request: { socket: { secureConnecting: true } } },
			}),
			'Base URL: the encrypted connection failed, because the certificate of the server is not accepted. If the server, or a proxy before it, has a certificate of its own, n8n has to trust it (NODE_EXTRA_CA_CERTS).',
		],
		[
			Object.assign(new Error('connect EHOSTUNREACH'), {
				code: 'EHOSTUNREACH',
				syscall: 'connect',
			}),
			'Base URL: the server cannot be reached (EHOSTUNREACH, connect EHOSTUNREACH).',
		],
		[
			new TimeLimitError(15_000),
			'Base URL https://gateway.example gave no response (the time limit of 15 s passed). Check the address, or test again later.',
		],
	])('says in the credential dialog why an address cannot be reached: %s', (cause, problem) => {
		const error = noResponse(
			{ purpose: 'list the models', cost: 'read' },
			cause,
			new Redaction(''),
		);
		expect(credentialProblem(error, 'Base URL', credential.baseUrl)).toBe(problem);
	});
});
