import type { IWorkflowBase } from 'n8n-workflow';
import type { WorkflowJson } from '../../test/harness/workflow';
import type { CredentialReference } from '../../test/n8n/owner';
import {
	createVideo,
	inGroups,
	startedByWebhook,
	withCredential,
} from '../../test/support/workflows/workflows';
import type { Deployment } from '../scale/deployment';

/** A node that has never run, of which n8n's store knows nothing. */
export interface FreshNode {
	workflow: IWorkflowBase;
	/** The path of its webhook, which is unique. */
	hook: string;
	isKeyed: boolean;
	/** The video that each of its executions orders. With an Order Key, all of them want the same one. */
	names: string[];
	/** Whether its orders get no response until a worker is killed. */
	isHeld: boolean;
}

/** Publishes new nodes, one in two with an Order Key. @param executions how many will start of each */
export async function publishNodes(
	deployment: Deployment,
	{ title, count, executions }: { title: string; count: number; executions: number },
): Promise<FreshNode[]> {
	const nodes: FreshNode[] = [];
	for (let index = 0; index < count; index++) {
		const hook = `${title}-${index}`;
		const isKeyed = index % 2 === 1;
		const workflow = orderWorkflow(hook, deployment.environment.credential, isKeyed);
		nodes.push({
			hook,
			isKeyed,
			isHeld: index % 4 < 3,
			workflow: await deployment.publish(workflow),
			names: Array.from({ length: executions }, (_, place) =>
				isKeyed ? `${hook} all` : `${hook} ${place}`,
			),
		});
	}
	return nodes;
}

/** A webhook that responds at once, and a node that orders the video whose name is in its call. */
function orderWorkflow(
	path: string,
	credential: CredentialReference,
	isKeyed: boolean,
): WorkflowJson {
	const prompt = '={{ $json.query.name }}';
	// Longer than a wave holds an order.
	const options = inGroups({ timeout: 300, ...(isKeyed && { orderKey: prompt }) });
	const create = createVideo({ prompt, options });
	return withCredential({ ...startedByWebhook({ path }, create), name: path }, credential);
}
