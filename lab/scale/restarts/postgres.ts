import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { until } from '../../../test/support/time/until';
import type { Figure } from '../../report';
import { fromNowOn } from '../aftermath';
import { stallOf } from '../arrange';
import type { Deployment } from '../deployment';
import { callAll } from '../load';
import { supervise } from '../supervise';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { figureOfTrial, reporter, type Bench } from './trial';

const each = 12;
const awaySeconds = 8;
export const postgresTitle = `PostgreSQL is gone for ${awaySeconds} s`;

/** PostgreSQL restarts during creates, whose responses arrive without it, and while waits are parked. */
export async function measurePostgresRestart(
	deployment: Deployment,
	{ video }: Bench,
): Promise<Figure[]> {
	const report = reporter(postgresTitle);
	const creating = await deployment.publish(videoWorkflow('create', deployment.environment));
	const group = async (kind: string, workflow: typeof video) => ({
		title: `${postgresTitle}, ${kind}`,
		names: Array.from({ length: each }, (_, index) => `${kind} 60 s ${index}`),
		executions: await fromNowOn(deployment, [workflow]),
		report,
	});
	const parked = await group('parked', video);
	const creates = await group('in a create', creating);
	await callAll(deployment, 'video', parked.names);
	await until(async () => (await parked.executions()).every(({ status }) => status === 'waiting'));

	const away = new AbortController();
	const create = stallOf(deployment, 'in a create ', {
		route: 'videoCreate',
		accepted: true,
		times: each,
		until: once(away.signal, 'abort'),
	});
	await callAll(deployment, 'create', creates.names);
	await until(() => create.hits >= each);
	report(`${each} executions are parked, ${each} are in a create`);
	await deployment.database.shutDown();
	away.abort();
	await setTimeout(awaySeconds * 1000);
	await deployment.database.start();
	report('PostgreSQL is back');
	await supervise(deployment, report);
	return [
		await figureOfTrial(deployment, { ...parked, isByItself: true }),
		await figureOfTrial(deployment, { ...creates, isByItself: false }),
	];
}
