import type { Gateway } from '../client/gateway';
import { endpoints } from '../protocol/endpoints';
import { modelList, type Model } from './responses';

/**
 * The models that the service lists ("Endpoints" 7).
 * @param timeout milliseconds for one try; default: the endpoint's
 * @throws GatewayError
 */
export async function listModels(
	gateway: Gateway,
	{ timeout }: { timeout?: number } = {},
): Promise<Model[]> {
	return await gateway.call({
		endpoint: endpoints.models,
		purpose: 'list the models',
		timeout,
		parse: modelList,
	});
}
