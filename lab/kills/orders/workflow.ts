import type { WorkflowJson } from '../../../test/harness/workflow';
import { lackOf } from '../../../test/n8n/features';
import type { CredentialReference } from '../../../test/n8n/owner';
import {
	byId,
	core,
	modelGateway,
	startedByWebhook,
	waitForVideo,
	withCredential,
	inGroups,
} from '../../../test/support/workflows/workflows';

/**
 * The kinds of orders:
 * - `one`: one video.
 * - `three`: three videos of a list, the maximum that the node may order and spend in a day.
 * - `file`: one video with an image that is fetched in the execution.
 * - `key`: one video with an Order Key.
 * - `createFirst`: one video. Create comes before the trigger in the list of nodes, whose sequence n8n uses when it
 *   rebuilds a crashed execution.
 */
export const forms = ['one', 'three', 'file', 'key', 'createFirst'] as const;
export type Form = (typeof forms)[number];

const costOfVideo = 0.37;
export const prices = { 'beta-2.7-r2v': { per_video: costOfVideo } };

export interface OrderWorkflow {
	name: string;
	form: Form;
	/** Whether orders are sent one after the other. */
	isSerial?: boolean;
	/** Whether there is a node between Create and Wait for Video. */
	hasNodeAfter?: boolean;
	/** Whether n8n stores the execution after each node. */
	savesProgress?: boolean;
}

/** The prompts of a workflow, by which its orders are distinguished. */
export function promptsOf({ name, form }: OrderWorkflow): string[] {
	return Array.from({ length: form === 'three' ? 3 : 1 }, (_, index) => `${name} v${index}`);
}

/** A webhook that responds at once, Create, and Wait for Video, as in the Quick start. */
export function orderWorkflow(
	order: OrderWorkflow,
	credential: CredentialReference,
	picture: string,
): WorkflowJson {
	const { name, form } = order;
	const prompts = promptsOf(order);
	const list = core('List', 'set', { mode: 'raw', jsonOutput: JSON.stringify({ prompts }) }, 3.4);
	const each = core('Each', 'splitOut', { fieldToSplitOut: 'prompts' });
	const fetching = (node: string) => {
		const response = { response: { response: { responseFormat: 'file' } } };
		return core(node, 'httpRequest', { url: linkFor(picture, name, node), options: response }, 4.2);
	};
	const image = { type: 'reference_image' };
	const media =
		form === 'file'
			? { media: { values: [{ ...image, source: 'binary', binaryField: 'data' }] } }
			: { mediaInput: 'json', mediaJson: JSON.stringify([{ ...image, url: picture }]) };
	const create = modelGateway(
		{
			resource: 'referenceVideo',
			operation: 'create',
			model: byId('beta-2.7-r2v'),
			prompt: form === 'three' ? '={{ $json.prompts }}' : prompts[0],
			...media,
			options: inGroups({
				duration: 2,
				...(form === 'key' && { orderKey: name }),
				// In n8n 1, a Retry knows of no earlier order, and the limit would refuse it.
				...(form === 'three' &&
					!lackOf('openOrders') && { maxOrdersPerDay: 3, maxCostPerDay: 3 * costOfVideo }),
				...(order.isSerial && { parallelRequests: 1 }),
			}),
		},
		{ name: 'Create' },
	);
	const { nodes, connections } = startedByWebhook(
		{ path: name },
		...(form === 'three' ? [list, each] : []),
		...(form === 'file' ? [fetching('Before')] : []),
		create,
		...(order.hasNodeAfter ? [fetching('After')] : []),
		waitForVideo(order.hasNodeAfter ? { jobId: jobOfCreate } : {}),
	);
	const workflow: WorkflowJson = {
		name,
		nodes: form === 'createFirst' ? nodes.reverse() : nodes,
		connections,
		settings: { executionOrder: 'v1', ...(order.savesProgress && { saveExecutionProgress: true }) },
	};
	return withCredential(workflow, credential);
}

const jobOfCreate = '={{ $("Create").item.json.output.task_id }}';

/** A link to the image that only this node of this workflow uses. */
const linkFor = (picture: string, name: string, node: string) => `${picture}?${name}-${node}`;
