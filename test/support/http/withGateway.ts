import type { IDataObject } from 'n8n-workflow';
import { startGateway, type Gateway, type GatewayOptions } from '../../../gateway';
import { processedItems, runWorkflow, SimulatedTime } from '../../harness';
import { picture } from '../data/samples';
import { standInFor } from '../data/standIn';
import { credentialFor } from '../workflows/workflows';

/** The surroundings of a test of the engine. */
interface World {
	gateway: Gateway;
	/** Media for a reference video: one small image. */
	media: IDataObject[];
	/** Runs a workflow as the harness does, by default with a credential for this gateway. */
	runWorkflow: typeof runWorkflow;
}

/** Ports of earlier tests. The nodes remember a service by its base URL, as long as the process runs. */
const usedUrls = new Set<string>();

/** A gateway with a new base URL: the system gives the port of a closed server away again. */
async function startAtNewUrl(options: GatewayOptions): Promise<Gateway> {
	const gateway = await startGateway(options);
	if (!usedUrls.has(gateway.url)) {
		usedUrls.add(gateway.url);
		return gateway;
	}
	await gateway.close();
	return await startAtNewUrl(options);
}

/**
 * Gives each test its own gateway, and an n8n that keeps nothing of earlier executions.
 * @returns what stands for the gateway of the test that runs, and its media
 */
export function withGateway({
	isTimeSimulated = false,
	...options
}: GatewayOptions & { isTimeSimulated?: boolean }): World {
	let time: SimulatedTime | undefined;
	let gateway: Gateway;
	const media: IDataObject[] = [];

	beforeEach(async () => {
		if (isTimeSimulated) time = new SimulatedTime();
		processedItems.clear();
		gateway = await startAtNewUrl(options);
		media.splice(0, Infinity, ...mediaOf(gateway));
	});
	afterEach(async () => {
		await gateway.close();
		await time?.end();
		// The next file may use n8n's store without a gateway of its own.
		processedItems.clear();
	});
	return {
		gateway: standInFor(() => gateway),
		media,
		runWorkflow: async (workflow, options) =>
			await runWorkflow(workflow, { credentials: credentialFor(gateway), ...options }),
	};
}

const mediaOf = (gateway: Gateway): IDataObject[] => [
	{ type: 'reference_image', url: gateway.addMedia('a.png', picture('red', 32, 24), 'image/png') },
];
