import type { Gateway } from '../../../gateway';
import { runWorkflow } from '../../harness';
import { mp4Of } from '../../support/files/boxes';
import { startServer, type Reply } from '../../support/http/scriptedServer';
import { storage } from '../../support/http/scriptedStorage';
import { withGateway } from '../../support/http/withGateway';
import { earlierJob } from '../../support/workflows/earlierJobs';
import { chain, credentialFor, waitForVideo } from '../../support/workflows/workflows';

const video = mp4Of(100_000);
const minute = 60_000;

let gateway: Gateway;
withGateway({ isTimeSimulated: true }, (world) => void ({ gateway } = world));

/** Announces 10 GB, and sends a byte each 59 seconds. */
const drip: Reply = (response) => {
	response.writeHead(200, { 'content-length': 9_999_999_999 }).write(video.subarray(0, 1000));
	const next = () => {
		if (response.destroyed) return;
		response.write('x');
		setTimeout(next, 59_000);
	};
	setTimeout(next, 59_000);
};

it('gives up a video that drips soon after the timeout of the wait, and collects it later', async () => {
	const { id } = earlierJob(gateway, 'task', video);
	const server = await startServer(drip, storage(video));
	const body = JSON.stringify({ status: 'completed', result_url: `${server.url}/v.mp4` });
	gateway.fault({ route: 'task', action: 'answer', times: Infinity, body });
	const run = async () =>
		await runWorkflow(chain(waitForVideo({ options: { timeoutMinutes: 20 } })), {
			credentials: credentialFor(gateway),
			input: [{ json: { task_id: id } }],
		});
	const startedAt = Date.now();
	const error = (await run()).errorOf('Wait for Video');
	expect(Date.now() - startedAt).toBeLessThan(23 * minute);
	expect(error?.message).toContain(
		`Could not download the video of job ${id}: the file took longer than 1200 seconds at less than 64 kB/s`,
	);
	expect(error?.description).toContain(`Collect it by its ID ${id}`);
	expect(server.requests).toHaveLength(1);

	const collected = await run();
	expect(await collected.binary(collected.items('Wait for Video')[0])).toEqual(video);
});
