import { Gateway } from '../../service/client/gateway';
import type { Runtime } from '../../service/client/http';
import { RequestQueue } from '../../service/client/requestQueue';
import { connectionFrom } from './connection';
import { clock, credentialName, n8nRuntime, type N8nRuntime, type NodeContext } from './httpClient';

export type N8nGateway = Gateway<N8nRuntime>;

/**
 * The gateway of the node's credential, for one run of the node.
 * @param settings of the runtime that do not come from n8n
 * @throws GatewayError when the credential cannot be used
 */
export async function createGateway(
	context: NodeContext,
	settings: Pick<Runtime, 'limiter' | 'graceOnStop' | 'closing'> = {},
): Promise<N8nGateway> {
	const credential = await context.getCredentials(credentialName);
	const connection = connectionFrom(credential);
	return new Gateway(connection, {
		...n8nRuntime(context, credential),
		...settings,
		queue: RequestQueue.of(connection, clock),
	});
}
