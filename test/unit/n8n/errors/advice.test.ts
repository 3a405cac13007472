import { Redaction } from '../../../../nodes/shared/gateway/client/redaction';
import { noResponse } from '../../../../nodes/shared/gateway/errors/requestErrors';
import { adviceOf } from '../../../../nodes/shared/n8n/errors/advice';

it('names the storage host, not the gateway, when the certificate of that host is not accepted', () => {
	const cause = Object.assign(new Error('self-signed certificate'), {
		...{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', request: { socket: { secureConnecting: true } } },
	});
	const request = { purpose: 'download it', cost: 'read', host: 'storage.example' } as const;
	const { failure } = noResponse(request, cause, new Redaction(''));
	expect(failure.message).toMatch(
		/^Could not download it: the TLS certificate of storage.example is not/,
	);
	expect(adviceOf(failure)).toMatch(/replaces the certificate of storage.example.*NODE_EXTRA_CA_/);
});
