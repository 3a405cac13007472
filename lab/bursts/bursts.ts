import type { Deployment } from '../scale/deployment';
import { settled, type Stage } from './wave';

/** Milliseconds that a message to PostgreSQL takes longer in every second burst, as if it ran on another machine. */
const farAway = 20;

/** Starts all executions of a new node at the same moment, one node after the other. */
export async function startBursts(deployment: Deployment, { nodes, report }: Stage): Promise<void> {
	for (const [index, node] of nodes.entries()) {
		// Independent of whether the node has an Order Key, and is held.
		deployment.databaseProxy?.delay(index % 8 < 4 ? 0 : farAway);
		await Promise.all(node.names.map(async (name) => await deployment.call(node.hook, { name })));
		if (!(await settled(deployment, [node]))) report(`${node.hook} does not end`);
	}
	deployment.databaseProxy?.delay(0);
}
