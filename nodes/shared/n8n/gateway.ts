import { connectionFrom } from '../gateway/connection';
import type { Slots } from '../gateway/slots';
import { Gateway } from '../gateway/transport';
import { credentialName, n8nWorld, type N8nWorld, type NodeContext } from './world';

/** The gateway of the node's credential, for one run of the node. */
export type N8nGateway = Gateway<N8nWorld>;

/**
 * @param pace how many requests are in flight at most
 * @throws GatewayError when the credential cannot be used
 */
export async function gatewayOf(context: NodeContext, pace?: Slots): Promise<N8nGateway> {
	const credential = await context.getCredentials(credentialName);
	return new Gateway(connectionFrom(credential), { ...n8nWorld(context, credential), pace });
}
