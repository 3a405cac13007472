import type { AxiosInstance, AxiosResponse } from 'axios';
import { startGateway, type Gateway, type GatewayOptions } from '../../../gateway';
import { clientOf } from '../../../gateway/client';

/** A gateway for the tests of one file, with a client that has its key. */
export function served(options: GatewayOptions = {}) {
	const running = {} as { gateway: Gateway; client: AxiosInstance };
	beforeAll(async () => {
		running.gateway = await startGateway(options);
		running.client = clientOf(running.gateway);
	});
	afterAll(async () => await running.gateway.close());
	return running;
}

export const refusalOf = ({ status, data }: AxiosResponse): unknown[] => [
	status,
	data.error.code,
	data.error.param,
];
