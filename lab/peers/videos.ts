import { readFile, rm } from 'node:fs/promises';
import type { INodeExecutionData } from 'n8n-workflow';
import { langchain } from '../../test/support/workflows/workflows';
import { byId, core, modelGateway, waitForVideo } from '../../test/support/workflows/workflows';
import type { WorkflowJson } from '../../test/harness/workflow';
import { atLeast } from '../report';
import { fromTexts, type Measured, type Way } from './measure';
import { asFile, credentialsFor, httpRequest, post, result } from './nodes';
import { inTurns, ratio, requireOneEach, type Row } from './rounds';
import { videoSeconds } from './service';
import type { Section, Setup, Work } from './work';

const gateway = 'videos';
/** Between the polls of the loop: the shortest that the service recommends for its video jobs. */
const loopSeconds = 5;

/** Videos from the order to the file. */
export const videos: Work = async ({ rounds, isSmall, openOther, ...setup }) => {
	const few = isSmall ? 1 : 3;
	if (isSmall) return section({ few, ofFew: await inEachWay(setup, { count: few, rounds: 1 }) });

	const many = 20;
	// It sleeps for nearly all of its five minutes, so the rest does not wait for its end.
	const other = await openOther();
	const theirs = measure(other, [await alibaba(other, 'aside')], { count: many, rounds: 1 });
	// It is awaited last. Until then, its failure must not count as unhandled.
	theirs.catch(() => undefined);
	try {
		const ofFew = await inEachWay(setup, { count: few, rounds });
		const hold = [await ours(setup), await loop(setup)];
		const held = await measure(setup, hold, { count: many, rounds });
		const park = [await ours(setup, { respondsAtOnce: true })];
		const parked = await measure(setup, park, { count: many, rounds: 1 });
		const ofMany = [...held, ...(await theirs), ...parked];
		return section({ few, ofFew, many, ofMany });
	} finally {
		await other.instance.end();
	}
};

interface Figures {
	few: number;
	ofFew: Row[];
	many?: number;
	/** Ours, the loop, the Alibaba Cloud node, and ours parked. */
	ofMany?: Row[];
}

function section({ few, ofFew, many, ofMany }: Figures): Section {
	const [held, , theirs] = ofMany ?? [];
	return {
		title: `Videos that take ${videoSeconds} s: order, wait, download`,
		about: [
			`For each item, the workflow orders a video, waits for it, and stores its file. The server takes ${videoSeconds} s for each video. The webhook that starts the workflow responds when it has ended, so **Wait for Video** keeps running, as the other nodes always do. Every stored file must have as many bytes as the video.`,
			`n8n's Alibaba Cloud node (Text to Video) uses the paths of Alibaba Cloud. An adaptor translates its requests and passes them on to the same server. The node is unchanged: its credential has the address of the adaptor. The HTTP Request and Wait nodes form the loop that you would build by hand: an HTTP Request node that orders, a Wait node of ${loopSeconds} s, an HTTP Request node for the status, an If node that leads back to the Wait node, and two more HTTP Request nodes for the link and the file.`,
			`The Alibaba Cloud node handles one item after another, and polls every 15 s. The loop polls all its videos together. Model Gateway places 10 orders at a time, and Wait for Video polls each video on its own schedule, every 5 s. The loop and Wait for Video notice a finished video up to 5 s late, depending on when they poll.`,
			`With ${many} videos, the Alibaba Cloud node is measured only once. It sleeps nearly all the time, so it runs in a second n8n with the same settings, at the same time as the rest. “Parked” is measured only once, too. It is what Wait for Video does by default when nobody waits for the response: n8n stores the execution, which then survives a restart, and resumes it once a minute. This adds up to a minute at the end.`,
		],
		tables: [
			{ title: few === 1 ? 'One video' : `${few} videos`, rows: ofFew, bars: 'seconds' },
			...(ofMany ? [{ title: `${many} videos`, rows: ofMany, bars: 'seconds' as const }] : []),
		],
		goals: ofMany
			? [
					atLeast(
						`${many} videos: time of the Alibaba Cloud node / ours`,
						ratio(theirs, held),
						25,
						{ unit: 'times', digits: 1 },
					),
				]
			: [],
	};
}

async function inEachWay(setup: Setup, task: { count: number; rounds: number }): Promise<Row[]> {
	return await measure(setup, [await ours(setup), await loop(setup), await alibaba(setup)], task);
}

async function measure(
	setup: Setup,
	ways: Way[],
	{ count, rounds }: { count: number; rounds: number },
): Promise<Row[]> {
	const check = async (measured: Measured) => {
		requireOneEach(measured, count);
		for (const item of measured.items) await takeFile(setup, item);
	};
	const texts = Array.from({ length: count }, (_, index) => `A boat on lake ${index}`);
	return await inTurns(setup, ways, { texts, rounds, check });
}

/** Takes the file of an item out of n8n's storage. @throws Error when it has another length */
async function takeFile({ instance, service }: Setup, { binary }: INodeExecutionData) {
	const file = instance.fileOf(binary?.data.id ?? '');
	const { length } = await readFile(file);
	if (length !== service.videoBytes) throw new Error(`A file has ${length} bytes`);
	await rm(file);
}

async function ours(setup: Setup, { respondsAtOnce = false } = {}): Promise<Way> {
	const credentials = await credentialsFor(setup, gateway);
	const order = {
		resource: 'video',
		operation: 'create',
		model: byId('vid-3.1'),
		prompt: '={{ $json.text }}',
	};
	const nodes = [
		modelGateway(order, { name: 'Create', ...credentials.ours }),
		waitForVideo({}, credentials.ours),
		result,
	];
	const name = `Model Gateway and Wait for Video${respondsAtOnce ? ', parked' : ''}`;
	return { name, gateway, respondsAtOnce, workflow: fromTexts(nodes, { respondsAtOnce }) };
}

async function alibaba(
	{ instance: { owner }, service }: Setup,
	gateway: 'videos' | 'aside' = 'videos',
): Promise<Way> {
	const credential = await owner.createCredentialOf('alibabaCloudApi', {
		apiKey: 'sk-any',
		region: 'ap-southeast-1',
		url: service.alibaba[gateway],
	});
	return {
		name: 'Alibaba Cloud node',
		gateway,
		workflow: fromTexts([textToVideo(credential), result]),
	};
}

/** n8n's node with default settings; it downloads the video that it has made. */
export const textToVideo = (alibabaCloudApi: { id: string; name: string }) => ({
	...langchain(
		'Alibaba Cloud',
		'alibabaCloud',
		{
			resource: 'video',
			operation: 'textToVideo',
			modelId: byId('wan2.6-t2v'),
			prompt: '={{ $json.text }}',
		},
		1.1,
	),
	credentials: { alibabaCloudApi },
});

async function loop(setup: Setup): Promise<Way> {
	const { header } = await credentialsFor(setup, gateway);
	const base = `${setup.service.gateways.videos.url}/v1/videos`;
	const body = '={{ JSON.stringify({ model: "vid-3.1", prompt: $json.text }) }}';
	const wait = { resume: 'timeInterval', amount: loopSeconds, unit: 'seconds' };
	const finished = { value1: '={{ $json.status }}', value2: 'completed' };
	const row = fromTexts([
		httpRequest('Create', post(base, body), header),
		core('Wait', 'wait', wait, 1.1),
		httpRequest('State', { url: `=${base}/{{ $json.id }}` }, header),
		core('Finished?', 'if', { conditions: { string: [finished] } }),
		httpRequest('Link', { url: `=${base}/{{ $json.id }}/content` }, header),
		httpRequest('Download', { url: '={{ $json.url }}', ...asFile }),
		result,
	]);
	return {
		name: 'HTTP Request and Wait nodes',
		gateway,
		workflow: backFrom(row, 'Finished?', 'Wait'),
	};
}

/** Connects the second output of a node to an earlier one. */
function backFrom(
	{ connections = {}, ...row }: WorkflowJson,
	from: string,
	to: string,
): WorkflowJson {
	const [forth] = connections[from].main;
	const back = [{ node: to, type: 'main' as const, index: 0 }];
	return { ...row, connections: { ...connections, [from]: { main: [forth, back] } } };
}
