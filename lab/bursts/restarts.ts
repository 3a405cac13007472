import { setTimeout } from 'node:timers/promises';
import { within } from '../../test/support/time/until';
import type { DatabaseProxy } from '../n8n/databaseProxy';
import type { Deployment } from '../scale/deployment';
import type { FreshNode } from './nodes';
import { nameOf, settled, type Stage } from './wave';

/** Seconds for which PostgreSQL is away, by turns. The longest is longer than a node tries to record an order. */
const away = [0, 2, 15];

/** Starts an execution of each node, and restarts PostgreSQL while they record their orders. */
export async function startWithRestart(
	deployment: Deployment,
	{ nodes, turn, report }: Stage,
): Promise<void> {
	const { databaseProxy, database, gateway } = deployment;
	const stops = nodes.map((node, index) =>
		stopRecording(databaseProxy as DatabaseProxy, node, turn * nodes.length + index),
	);
	await Promise.all(
		nodes.map(async ({ hook, names: [name] }) => await deployment.call(hook, { name })),
	);
	const isThere = ({ names: [name] }: FreshNode, index: number) =>
		stops[index].hits > 0 || gateway.requests.some((request) => nameOf(request) === name);
	await within(() => nodes.every(isThere), 20);
	// Statements that reached PostgreSQL are carried out by then.
	await setTimeout(300);
	const mode = turn % 2 === 0 ? 'fast' : 'immediate';
	const seconds = away[turn % away.length];
	const stopped = stops.filter(({ hits }) => hits > 0).length;
	report(`PostgreSQL stops (${mode}) during ${stopped} recordings, for ${seconds} s`);
	await database.shutDown(mode);
	await setTimeout(seconds * 1000);
	for (const stop of stops) stop.remove();
	await database.start();
	if (!(await settled(deployment, nodes))) report('some executions do not end');
}

/** Stops a statement by which an execution of the node records its order. */
function stopRecording(
	proxy: DatabaseProxy,
	{ workflow: { id }, isKeyed }: FreshNode,
	index: number,
) {
	return proxy.stop({
		when: (message) =>
			/(INSERT INTO|UPDATE) \S*"processed_data"/.test(message) && message.includes(String(id)),
		// An order takes two statements, and one with an Order Key six.
		skip: Math.floor(index / 4) % (isKeyed ? 6 : 2),
		moment: Math.floor(index / 2) % 2 === 0 ? 'before' : 'after',
	});
}
