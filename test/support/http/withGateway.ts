import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway, type GatewayOptions } from '../../../gateway';
import { processedItems, SimulatedTime } from '../../harness';
import { picture } from '../data/samples';

/** What a test of the engine works with. */
interface World {
	gateway: Gateway;
	/** Media for a reference video: one small image. */
	media: IDataObject[];
}

/** Gives each test its own gateway, and an n8n that keeps nothing of earlier executions. */
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
		// The next file may use n8n's store without a gateway of its own.
		processedItems.clear();
	});
}

const mediaOf = (gateway: Gateway): IDataObject[] => [
	{ type: 'reference_image', url: gateway.addMedia('a.png', picture('red', 32, 24), 'image/png') },
];
