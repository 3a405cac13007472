import type { INode } from 'n8n-workflow';
import { GatewayError } from '../../../../nodes/shared/gateway/errors/gatewayError';
import { nodeError } from '../../../../nodes/shared/n8n/errors/nodeError';

describe('the error of a tool', () => {
	const tool: INode = {
		...{ id: '1', name: 'Wait', type: 'n8n-nodes-model-gateway.modelGatewayWaitForVideoTool' },
		...{ typeVersion: 1, position: [0, 0], parameters: {} },
	};
	const messageOf = (message: string) => {
		const error = new GatewayError({
			...{ message, remedies: [], reach: 'none', status: 0, billed: 'unknown' },
			retry_can_help: true,
		});
		return nodeError(tool, { error, others: [], jobs: [], jobsAreKept: false }).message;
	};

	it.each([
		...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'ETIMEDOUT', 'ERRADDRINUSE', 'EADDRNOTAVAIL'],
		...['ECONNABORTED', 'EHOSTUNREACH', 'EAI_AGAIN', 'ENOENT', 'EISDIR', 'ENOTDIR', 'EACCES'],
		...['EEXIST', 'EPERM', 'getaddrinfo', 'GETADDRINFO', 'read_econnreset_2'],
	])('replaces the word %s, because n8n would replace the whole message for it', (name) => {
		const message = messageOf(`The connection failed (${name})`);
		expect(message).toMatch(/^The connection failed \(.*network error.*\)/);
		expect(message.toUpperCase()).not.toContain(name.toUpperCase());
	});

	it.each(['EXPIRED', 'ENDED', 'ERROR', 'EXECUTING', 'EAI_FAIL'])(
		'keeps the word %s in the message',
		(word) => {
			expect(messageOf(`The last status was ${word}`)).toContain(`The last status was ${word}`);
		},
	);
});
