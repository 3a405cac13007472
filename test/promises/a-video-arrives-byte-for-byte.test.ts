import { sha256 } from '../support/data/sha256';
import { mp4Of } from '../support/files/boxes';
import { answer, json, startServer } from '../support/http/scriptedServer';
import { storage } from '../support/http/scriptedStorage';
import { chain, credentialFor, waitForVideo } from '../support/workflows/workflows';
import { nodeFor, toolResult } from '../support/nodes';
import { run, withOrders, world } from '../support/orders';
import {
	downloads,
	filesOf,
	finishedJob,
	hold,
	itemsOf,
	kinds,
	newVideo,
	results,
	resumeWhenDue,
	waiting,
} from '../support/waits';

/** Links live shorter than a download may stand still. */
withOrders({ linkSeconds: 30 });

const video = newVideo();
const ranges = () => downloads().map(({ headers }) => headers.range);

it.each(kinds)('fetches the file of a %s byte for byte, and without the API key', async (kind) => {
	const execution = await hold([finishedJob(kind, video)]);
	expect(await filesOf(execution)).toEqual([sha256(video)]);
	expect(results(execution)[0].binary?.data).toMatchObject({ mimeType: 'video/mp4' });
	expect(downloads().map(({ headers }) => headers.authorization)).toEqual([undefined]);
});

it('delivers the file although a part of its File Name is undefined', async () => {
	const options = { fileName: '=film-{{ $json.nothing }}' };
	const execution = await hold([finishedJob('task', video)], { options });
	expect(await filesOf(execution)).toEqual([sha256(video)]);
});

it('resumes an interrupted download where it broke off', async () => {
	world.gateway.fault({ route: 'download', action: 'cut', after: 5_000 });
	world.gateway.fault({ route: 'download', action: 'cut', after: 4_000 });
	expect(await filesOf(await hold([finishedJob('task', video)]))).toEqual([sha256(video)]);
	expect(ranges()).toEqual([undefined, 'bytes=5000-', 'bytes=9000-']);
});

it.each(kinds)('gets a new link of a %s when the old one has expired', async (kind) => {
	world.gateway.fault({ route: 'download', action: 'freeze', after: 5_000 });
	expect(await filesOf(await hold([finishedJob(kind, video)]))).toEqual([sha256(video)]);
	expect(downloads().map(({ status }) => status)).toEqual([200, 403, 206]);
	expect(ranges().at(-1)).toBe('bytes=5000-');
});

it('takes no part of an mp4 for the whole file, even when its length is as announced', async () => {
	const whole = mp4Of(1000);
	const part = answer(200, whole.subarray(0, 900), { 'content-type': 'video/mp4' });
	const server = await startServer(part, storage(whole));
	const body = JSON.stringify({ url: `${server.url}/v.mp4` });
	world.gateway.fault({ route: 'videoContent', action: 'answer', body, times: 9 });
	expect(await filesOf(await hold([finishedJob('video', video)]))).toEqual([sha256(whole)]);
	expect(server.requests).toHaveLength(2);
});

const base64 = video.toString('base64');
const inside = `data:video/mp4;base64,${base64}`;

it('takes a video of many megabytes that is in its response itself', async () => {
	const large = mp4Of(9_000_000);
	const result_url = `data:video/mp4;base64,${large.toString('base64')}`;
	const service = await startServer(json({ status: 'completed', result_url }));
	const credentials = credentialFor({ url: service.url, apiKey: 'demo-key' });
	const input = itemsOf([finishedJob('task', video)]);
	const execution = await run(waiting({ whileWaiting: 'hold' }), [], {
		credentials,
		input,
		mode: 'manual',
	});
	expect(await filesOf(execution)).toEqual([sha256(large)]);
});

describe.each([
	['a data URL', { result_url: inside }],
	['base64 in lines', { output: base64.replace(/.{76}/g, '$&\n') }],
	['base64', { url: 'https://firm.example/poster.png', videos: [{ b64: base64 }] }],
])('a video that is %s in the response', (_, fields) => {
	const respond = async () => {
		const service = await startServer(json({ status: 'completed', id: 'a', ...fields }));
		return { url: service.url, apiKey: 'demo-key' };
	};
	const waitNode = waitForVideo({ jobId: 'a', whileWaiting: 'hold', download: false });

	it.each([
		['Wait for Video', waitNode],
		['Get Status of a task', nodeFor('referenceVideo.get', { taskId: 'a' })],
		['Get Status of a video', nodeFor('video.get', { videoId: 'a' })],
		['Get Content', nodeFor('video.getContent', { videoId: 'a', download: false })],
	])('is given as a file by %s, also without Download, and stands in no JSON', async (_, node) => {
		const credentials = credentialFor(await respond());
		const execution = await run(chain({ ...node, name: 'Node' }), [], {
			credentials,
			input: [{ json: {} }],
			mode: 'manual',
		});
		const [item] = execution.items('Node');
		expect(sha256(await execution.binary(item))).toBe(sha256(video));
		expect(JSON.stringify(item.json).length).toBeLessThan(300);
	});

	it('is not stored with an execution that parks for another job', async () => {
		const finished = json({ status: 'completed', id: 'a', ...fields });
		const service = await startServer((response, request) =>
			request.path.endsWith('/a')
				? finished(response, request)
				: json({ status: 'in_progress', task_id: 'b' })(response, request),
		);
		const credentials = credentialFor({ url: service.url, apiKey: 'demo-key' });
		const input = ['a', 'b'].map((task_id) => ({ json: { task_id } }));
		const first = await run(waiting({ whileWaiting: 'park' }), [], { credentials, input });
		const parked = await resumeWhenDue(first);
		expect(service.requests.length).toBeGreaterThanOrEqual(2);
		expect(parked.status).toBe('waiting');
		expect(JSON.stringify(parked.data).length).toBeLessThan(20_000);
	});

	it('does not reach the model of an agent', async () => {
		const result = await toolResult(await respond(), waitNode);
		expect(JSON.stringify(result)).not.toContain(base64.slice(0, 50));
	});
});
