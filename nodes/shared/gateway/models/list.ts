import type { Call, Gateway } from '../client/gateway';
import { endpoints } from '../protocol/endpoints';
import { modelList, type Model } from './responses';

/**
 * The models that the service lists ("Endpoints" 7).
 * @param options as a {@link Call} has them
 * @throws GatewayError
 */
export async function listModels(
	gateway: Gateway,
	options: Pick<Call<unknown>, 'timeout' | 'retries'> = {},
): Promise<Model[]> {
	return await gateway.call({
		endpoint: endpoints.models,
		purpose: 'list the models',
		...options,
		parse: modelList,
	});
}
