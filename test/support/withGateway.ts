import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway, type GatewayOptions } from '../gateway';
import { processedItems, SimulatedTime } from '../harness';
import { picture } from './samples';

/** What a test of the engine works with. */
interface World {
	gateway: Gateway;
	/** For a reference video: one small picture. */
	media: IDataObject[];
}

/** Gives each test a gateway of its own, and an n8n that has kept nothing of earlier executions. */
export function withGateway(
	options: GatewayOptions & { isTimeSimulated?: boolean },
	take: (world: World) => void,
): void {
	const { isTimeSimulated = false, ...own } = options;
	let time: SimulatedTime | undefined;
	let gateway: Gateway;

	beforeEach(async () => {
		if (isTimeSimulated) time = new SimulatedTime();
		processedItems.clear();
		gateway = await startGateway(own);
		take({ gateway, media: mediaOf(gateway) });
	});
	afterEach(async () => {
		await gateway.close();
		await time?.end();
	});
}

const mediaOf = (gateway: Gateway): IDataObject[] => [
	{ type: 'reference_image', url: gateway.addMedia('a.png', picture('red', 32, 24), 'image/png') },
];
