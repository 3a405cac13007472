import type { IExecuteFunctions, ILoadOptionsFunctions } from 'n8n-workflow';
import { connectionFrom } from '../gateway/connection';
import { Gateway } from '../gateway/transport';
import { credentialName, n8nWorld, type N8nWorld } from './world';

/** The gateway of the node's credential, for one run of the node. */
export type N8nGateway = Gateway<N8nWorld>;

/** @throws GatewayError when the credential cannot be used */
export async function gatewayOf(
	context: IExecuteFunctions | ILoadOptionsFunctions,
	failed?: AbortSignal,
): Promise<N8nGateway> {
	const credential = await context.getCredentials(credentialName);
	return new Gateway(connectionFrom(credential), n8nWorld(context, failed));
}
