import { connectionFrom } from '../gateway/connection';
import type { World } from '../gateway/http';
import { Gateway } from '../gateway/transport';
import { credentialName, n8nWorld, type N8nWorld, type NodeContext } from './world';

/** The gateway of the node's credential, for one run of the node. */
export type N8nGateway = Gateway<N8nWorld>;

/**
 * @param settings of the world that are not n8n's
 * @throws GatewayError when the credential cannot be used
 */
export async function gatewayOf(
	context: NodeContext,
	settings: Pick<World, 'pace' | 'graceOnStop'> = {},
): Promise<N8nGateway> {
	const credential = await context.getCredentials(credentialName);
	return new Gateway(connectionFrom(credential), {
		...n8nWorld(context, credential),
		...settings,
	});
}
