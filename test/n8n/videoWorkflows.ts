import type { WorkflowJson } from '../harness/workflow';
import type { CredentialReference } from './owner';
import {
	byId,
	core,
	modelGateway,
	type Node,
	startedByWebhook,
	waitForVideo,
	withCredential,
} from '../support/workflows/workflows';

/** What all workflows need. */
interface Environment {
	credential: CredentialReference;
	sinkUrl: string;
}

/** The name of the video in the call of a webhook: `?name=…`. */
const nameOfCall = "{{ $('Start').item.json.query.name }}";

const toSink = (url: string): Node =>
	core(
		'Next',
		'httpRequest',
		{
			...{ method: 'PUT', url: `=${url}/${nameOfCall}` },
			...{ sendBody: true, contentType: 'binaryData', inputDataFieldName: 'data' },
		},
		4.2,
	);

interface VideoOptions {
	whileWaiting?: string;
	/** The node that gets the file. */
	next?: Node;
	settings?: WorkflowJson['settings'];
}

/** With this setting a wait that keeps running does not pause to be stored: n8n stores it anyway. */
export const storedAfterEachNode = { saveExecutionProgress: true };

/** A webhook that responds at once, a video with the name in its call, and a node that gets the file. */
export function videoWorkflow(
	path: string,
	{ credential, sinkUrl }: Environment,
	{ whileWaiting = 'auto', next = toSink(sinkUrl), settings = {} }: VideoOptions = {},
): WorkflowJson {
	const create = { resource: 'video', operation: 'create', model: byId('vid-3.1') };
	const row = startedByWebhook(
		{ path },
		modelGateway({ ...create, prompt: `=${nameOfCall}` }, { name: 'Create' }),
		waitForVideo({ whileWaiting }),
		next,
	);
	return withCredential({ ...row, name: path, settings }, credential);
}

/** Collects a video by the ID of its job: `?name=…&id=…`. */
export function collectWorkflow(
	path: string,
	{ credential, sinkUrl }: Environment,
	next = toSink(sinkUrl),
): WorkflowJson {
	const wait = waitForVideo({ jobId: '={{ $json.query.id }}', whileWaiting: 'hold' });
	const row = startedByWebhook({ path }, wait, next);
	return withCredential({ ...row, name: path, settings: storedAfterEachNode }, credential);
}

/** A webhook that responds at once, and one chat. */
export function chatWorkflow(path: string, { credential }: Environment): WorkflowJson {
	const message = { role: 'user', content: 'say Hello' };
	const chat = modelGateway(
		{
			...{ resource: 'chat', operation: 'complete', model: byId('chat-1-mini') },
			messages: { values: [message] },
		},
		{ name: 'Chat' },
	);
	return withCredential({ ...startedByWebhook({ path }, chat), name: path }, credential);
}
