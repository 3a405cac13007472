import { noResponse } from '../../../../nodes/shared/gateway/errors/requestErrors';
import { adviceOf } from '../../../../nodes/shared/n8n/errors/advice';

it('names the storage host, not the gateway, when the certificate of that host is not accepted', () => {
	const cause = Object.assign(new Error('self-signed certificate'), {
		...{ code: 'DEPTH_ZERO_SELF_SIGNED_CERT', request: { socket: { secureConnecting: true } } },
	});
	const request = { purpose: 'download it', cost: 'read', host: 'storage.example' } as const;
	const { message, remedies } = noResponse(request, cause).failure;
	expect(message).toMatch(/^Could not download it: the TLS certificate of storage.example is not/);
	expect(adviceOf(remedies)).toMatch(/replaces the certificate of storage.example.*NODE_EXTRA_CA_/);
});
