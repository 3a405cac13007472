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

/** The needs of all workflows. */
export interface Environment {
	credential: CredentialReference;
	sinkUrl: string;
}

/** The name of the video in the call of a webhook: `?name=…`. */
const nameOfCall = "{{ $('Start').item.json.query.name }}";

export const toSink = (url: string): Node =>
	core(
		'Next',
		'httpRequest',
		{
			method: 'PUT',
			url: `=${url}/${nameOfCall}`,
			sendBody: true,
			contentType: 'binaryData',
			inputDataFieldName: 'data',
		},
		4.2,
	);

interface VideoOptions {
	whileWaiting?: string;
	/** The node that gets the file. */
	next?: Node;
	settings?: WorkflowJson['settings'];
}

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
