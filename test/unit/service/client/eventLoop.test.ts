import { waitForEventLoop } from '../../../../nodes/shared/service/client/eventLoop';
import { clock } from '../../../../nodes/shared/n8n/client/httpClient';
import { SimulatedTime } from '../../../harness';

it('reads large responses after a test in simulated time has ended while one was read', async () => {
	const time = new SimulatedTime();
	await waitForEventLoop(3_000_000, clock);
	await time.end();
	await waitForEventLoop(3_000_000, clock);
}, 5_000);
