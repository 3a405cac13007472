import type { WorkflowJson } from '../../test/harness/workflow';
import { toSink, type Environment } from '../../test/n8n/videoWorkflows';
import {
	byId,
	modelGateway,
	startedByWebhook,
	waitForVideo,
	withCredential,
} from '../../test/support/workflows/workflows';

/** With this setting a wait that keeps running does not pause to be stored: n8n stores it anyway. */
export const storedAfterEachNode = { saveExecutionProgress: true };

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
			resource: 'chat',
			operation: 'complete',
			model: byId('chat-1-mini'),
			messages: { values: [message] },
		},
		{ name: 'Chat' },
	);
	return withCredential({ ...startedByWebhook({ path }, chat), name: path }, credential);
}
