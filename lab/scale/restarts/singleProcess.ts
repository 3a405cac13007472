import type { IWorkflowBase } from 'n8n-workflow';
import { setTimeout } from 'node:timers/promises';
import { ensureInstallation } from '../../../test/n8n/installation';
import type { Instance } from '../../n8n/instance';
import { callWebhook } from '../../../test/n8n/owner';
import { until } from '../../../test/support/time/until';
import { core, startedBy } from '../../../test/support/workflows/workflows';
import { none, type Figure } from '../../report';
import { onceEach } from '../faults/expectations';
import { deliveriesOf } from '../../../test/n8n/sink';
import type { Sink } from '../../../test/n8n/sink';
import { videoWorkflow } from '../../../test/n8n/videoWorkflows';
import { withSingle } from './single';
import { reporter, summaryOf } from './trial';

const count = 9;
/** Seconds that n8n stays down, so that every wait is due when it starts. */
const downSeconds = 40;
/** Seconds in which every execution has resumed, and a false mark should have gone, even on a busy machine. */
const observed = 150;

export interface SingleOptions {
	title: string;
	/** The version of n8n that starts again, if not the same. */
	version?: string;
	/** Whether a user presses Retry for each execution as soon as it shows as crashed. */
	isRetried: boolean;
}

/** One process of n8n with SQLite and default settings restarts while parked waits are due. */
export async function measureSingleProcess(options: SingleOptions): Promise<Figure[]> {
	if (options.version) await ensureInstallation(options.version);
	const { title } = options;
	return await withSingle(async ({ instance, gateway, sink, environment }) => {
		const alarm = await instance.owner.createPublished(alarmWorkflow(sink));
		const settings = { errorWorkflow: alarm.id };
		const workflow = await instance.owner.createPublished(
			videoWorkflow('single', environment, { settings }),
		);
		await instance.owner.createPublished(videoWorkflow('control', environment, { settings }));
		gateway.fault({ route: 'videoCreate', action: 'error', status: 400, code: 'invalid_request' });
		await callWebhook(instance.url, 'control', { name: 'control' });
		const alarms = () => sink.deliveries.filter(({ name }) => name.startsWith('alarm')).length;
		// The Error Workflow works.
		await until(() => alarms() === 1);
		const names = Array.from({ length: count }, (_, index) => `${title} ${index}`);
		const seen = await restart(instance, workflow, names, options);
		const deliveries = names.map((name) => deliveriesOf(gateway, sink.deliveries, name));
		return [
			...onceEach({ gateway, sink }, title, names),
			none(`${title}: delivered twice`, deliveries.filter((number) => number > 1).length),
			{
				figure: `${title}: shown as crashed`,
				value: `${seen.crashed} of ${count}, for up to ${seen.seconds.toFixed(0)} s; still at the end: ${seen.last}`,
			},
			{ figure: `${title}: Error Workflow ran`, value: `${alarms() - 1} times` },
		];
	});
}

/** Tells the sink about each execution that n8n starts an Error Workflow for. */
const alarmWorkflow = (sink: Sink) => ({
	...startedBy(
		core('Start', 'errorTrigger'),
		core(
			'Tell',
			'httpRequest',
			{ method: 'PUT', url: `=${sink.url}/alarm {{ $json.execution.id }}` },
			4.2,
		),
	),
	name: 'alarm',
});

interface Seen {
	/** Executions that showed as crashed. */
	crashed: number;
	/** The longest time that one did. */
	seconds: number;
	/** Those that still did at the end. */
	last: number;
}

async function restart(
	instance: Instance,
	workflow: IWorkflowBase,
	names: string[],
	{ title, version, isRetried }: SingleOptions,
): Promise<Seen> {
	const report = reporter(title);
	const list = async () => await instance.owner.executionsOf(workflow, 50);
	for (const name of names) await callWebhook(instance.url, 'single', { name });
	await until(
		async () => (await list()).filter(({ status }) => status === 'waiting').length === count,
	);
	await instance.end('SIGTERM');
	report(`${count} executions are parked, and n8n has stopped`);
	await setTimeout(downSeconds * 1000);
	await instance.start(version);
	report('n8n responds again');

	const crashedAt = new Map<string, { from: number; to: number }>();
	const begun = Date.now();
	let before = '';
	while (Date.now() < begun + observed * 1000) {
		const executions = await list();
		const now = Date.now();
		const shown = summaryOf(executions);
		if (shown !== before) report(shown);
		before = shown;
		for (const { id } of executions.filter(({ status }) => status === 'crashed')) {
			const mark = crashedAt.get(id);
			crashedAt.set(id, { from: mark?.from ?? now, to: now });
			if (mark || !isRetried) continue;
			// n8n responds when the Retry has ended.
			const body = { loadWorkflow: false };
			instance.owner.request('POST', `/executions/${id}/retry`, body).catch(() => undefined);
		}
		if (executions.every(({ status }) => status === 'success') && Date.now() > begun + 90_000)
			break;
		await setTimeout(500);
	}
	const times = [...crashedAt.values()].map(({ from, to }) => (to - from) / 1000);
	const last = (await list()).filter(({ status }) => status === 'crashed').length;
	return { crashed: crashedAt.size, seconds: Math.max(0, ...times), last };
}
