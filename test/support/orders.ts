import type { Gateway, RecordedRequest, Route } from '../../gateway';
import { EngineProcess, runWorkflow, type RunOptions, type StoredExecution } from '../harness';
import type { WorkflowJson, WorkflowRun } from '../harness';
import { withTitle } from './data/samples';
import { mp4Of } from './files/boxes';
import { withGateway } from './http/withGateway';
import { storedBy } from './workflows/interruptions';
import {
	byId,
	credentialFor,
	inGroups,
	modelGateway,
	type Node,
	type NodeSettings,
} from './workflows/workflows';

/** Parameters or options of a node, or the fields of an item. */
export type Fields = NonNullable<Parameters<typeof modelGateway>[0]>;

/** The gateway of the test that runs, and media for a reference video. */
export const world = {} as { gateway: Gateway; media: Fields[] };

/** Gives each test a gateway in simulated time. Its jobs finish at once, each with a video of its own. */
export const withOrders = (options: Parameters<typeof withGateway>[0] = {}) =>
	Object.assign(
		world,
		withGateway({
			isTimeSimulated: true,
			jobSeconds: 0,
			render: async ({ caption }) => withTitle(mp4Of(10_000), caption),
			...options,
		}),
	);

const prompt = '={{ $json.prompt }}';
const text = { messages: { values: [{ role: 'user', content: prompt }] } };

const edited = { prompt, imageSource: 'url', imageUrl: '={{ $json.media[0].url }}' };
const withMedia = { prompt, mediaInput: 'json', mediaJson: '={{ $json.media }}' };

/** Every operation that is charged. The prompt comes from the item. */
const operations = {
	'a reference video': {
		route: 'referenceVideoCreate',
		name: 'referenceVideo.create',
		model: 'beta-2.7-r2v',
		parameters: withMedia,
		options: { resolution: '720P', duration: 2 },
	},
	'a video': {
		route: 'videoCreate',
		name: 'video.create',
		model: 'vid-3.1',
		parameters: { prompt },
	},
	'an image': {
		route: 'imageGenerate',
		name: 'image.generate',
		model: 'image-1',
		parameters: { prompt },
	},
	'an edited image': {
		route: 'imageEdit',
		name: 'image.edit',
		model: 'image-edit-1-url',
		parameters: edited,
	},
	'an image by chat': {
		route: 'chat',
		name: 'image.chat',
		model: 'image-chat-1',
		parameters: { prompt },
	},
	'a chat': { route: 'chat', name: 'chat.complete', model: 'chat-1', parameters: text },
	'a message': { route: 'message', name: 'message.create', model: 'chat-1', parameters: text },
	'an embedding': {
		route: 'embedding',
		name: 'embedding.create',
		model: 'embed-1',
		parameters: { input: prompt },
		options: { batchSize: 1 },
	},
};

export type Thing = keyof typeof operations;
export const videos: Thing[] = ['a reference video', 'a video'];
export const images: Thing[] = ['an image', 'an edited image', 'an image by chat'];
export const texts: Thing[] = ['a chat', 'a message', 'an embedding'];

interface Change {
	options?: Fields;
	settings?: NodeSettings;
}

/** A node called Create that orders one thing for each item. */
export function create(
	thing: Thing,
	{ options, settings, ...parameters }: Change & Fields = {},
): Node {
	const { model, name, ...own } = { options: {}, ...operations[thing] };
	const [resource, operation] = name.split('.');
	return modelGateway(
		{
			resource,
			operation,
			model: byId(model),
			...own.parameters,
			options: inGroups({ ...own.options, ...options }),
			...parameters,
		},
		{ name: 'Create', ...settings },
	);
}

/** Runs the workflow as n8n runs an active one, with an item for each prompt. */
export const run = async (
	workflow: WorkflowJson,
	prompts: string[] = ['Waves'],
	options: RunOptions = {},
): Promise<WorkflowRun> =>
	await runWorkflow(workflow, {
		credentials: credentialFor(world.gateway),
		mode: 'trigger',
		input: prompts.map((prompt) => ({ json: { prompt, media: world.media } })),
		...options,
	});

export const routeOf = (thing: Thing) => operations[thing].route as Route;

export const requested = (thing: Thing): number =>
	world.gateway.requests.filter(({ route }) => route === routeOf(thing)).length;

/** How often the service has charged for anything. */
export const charged = (): number => world.gateway.ledger.length;

/** The prompts of all videos that were ordered, in the order of their names. */
export const orderedPrompts = (): string[] =>
	world.gateway.jobs
		.list()
		.map(({ order }) => order.prompt)
		.sort();

export const chargedJobs = (): string[] => world.gateway.ledger.flatMap(({ job }) => job ?? []);

/** The IDs of the jobs in the output of Create. */
export const jobsOf = (execution: WorkflowRun): unknown[] =>
	execution
		.items('Create')
		.map(({ json }) => (json.output as Fields | undefined)?.task_id ?? json.id);

/** Everything that an execution shows to a person. */
export const shownBy = ({ data }: WorkflowRun): string => JSON.stringify(data.resultData);

export const isFor =
	(prompt: string) =>
	({ body }: RecordedRequest): boolean =>
		JSON.stringify(body).includes(prompt);

/** The next order of this thing is refused, and not charged. @param prompt only an order with this prompt */
export const refuseNext = (thing: Thing, prompt = '') =>
	world.gateway.fault({
		route: routeOf(thing),
		action: 'error',
		status: 400,
		code: 'invalid_prompt',
		when: isFor(prompt),
	});

/** The next order of this thing is accepted, and its response is lost. */
export const loseNext = (thing: Thing, times = 1) =>
	world.gateway.fault({ route: routeOf(thing), action: 'reset', accepted: true, times });

/** An execution in n8n's database when n8n is killed while the service accepts its order. */
export async function killedWhileOrdering(
	thing: Thing,
	workflow: WorkflowJson,
	prompts?: string[],
): Promise<StoredExecution> {
	const n8n = new EngineProcess();
	world.gateway.fault({
		route: routeOf(thing),
		action: 'stall',
		accepted: true,
		when: () => (n8n.kill(), true),
	});
	return await storedBy(n8n, async (onStart) => await run(workflow, prompts, { onStart }));
}

/** Lets this number of simulated seconds pass. */
export const pass = async (seconds: number): Promise<void> =>
	await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
