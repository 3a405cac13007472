import type { IWorkflowBase } from 'n8n-workflow';
import { isOpen, isUnderWay } from '../test/n8n/owner';
import { within } from '../test/support/time/until';
import {
	createVideo,
	inGroups,
	startedByWebhook,
	withCredential,
} from '../test/support/workflows/workflows';
import { atLeast, none, print, printTable, type Figure } from './report';
import { Deployment } from './scale/deployment';

interface Settings {
	/** Orders of all clients together. */
	orders: number;
	clients: number;
	/** Maximum orders of each client in a month. */
	limit: number;
	/** How often a worker is killed while they are placed. */
	kills: number;
}

const hook = 'budget';

/** Places orders of several clients with a budget each in two workers, one of which is killed now and then. */
export async function measureBudgets({
	orders,
	clients,
	limit,
	kills,
}: Settings): Promise<Figure[]> {
	const options = {
		gateway: { jobSeconds: Infinity },
		workers: 2,
		concurrency: 100,
		// As in the measurement of bursts: a Retry can run what a worker has left.
		env: {
			N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE: '500000',
			QUEUE_WORKER_STALLED_INTERVAL: '3600000',
			N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.2',
		},
	};
	return await Deployment.with(options, async (deployment) => {
		const workflow = await publish(deployment, limit);
		const names = Array.from({ length: clients }, (_, client) => `client-${client}`);
		const call = async (client: string, number: number) =>
			await deployment.call(hook, { client, name: `${client} ${number}` });
		const group = Math.ceil(orders / (kills + 1));
		for (let from = 0; from < orders; from += group) {
			const calls = Array.from({ length: Math.min(group, orders - from) }, (_, at) => from + at);
			await Promise.all(
				calls.map(async (at) => await call(names[at % clients], Math.floor(at / clients))),
			);
			if (from + group < orders) await killOne(deployment, from + group / 3);
			await settled(deployment, workflow);
			print(`${charges(deployment)} videos are charged after ${calls.length + from} calls`);
		}
		await retryAll(deployment, workflow);
		// The rest of each budget can still be ordered.
		for (let number = orders; number < orders + limit; number++) {
			const open = names.filter((client) => charges(deployment, client) < limit);
			await Promise.all(open.map(async (client) => await call(client, number)));
			await settled(deployment, workflow);
		}
		return await figuresOf(deployment, workflow, { names, limit });
	});
}

async function publish(deployment: Deployment, limit: number): Promise<IWorkflowBase> {
	const limits = { maxOrders: limit, countFor: '={{ $json.query.client }}', inEach: 'month' };
	const create = createVideo({ prompt: '={{ $json.query.name }}', options: inGroups(limits) });
	const workflow = { ...startedByWebhook({ path: hook }, create), name: hook };
	return await deployment.publish(withCredential(workflow, deployment.environment.credential));
}

/** Kills a worker once so many orders were received. */
async function killOne(deployment: Deployment, received: number): Promise<void> {
	await within(async () => deployment.gateway.requests.length >= received, 20);
	await deployment.running[0].end('SIGKILL');
	await deployment.startWorker();
}

async function settled(deployment: Deployment, workflow: IWorkflowBase): Promise<void> {
	await within(async () => !(await deployment.executions(workflow)).some(isUnderWay), 90);
}

async function retryAll(deployment: Deployment, workflow: IWorkflowBase): Promise<void> {
	const failed = (await deployment.executions(workflow)).filter(
		(one) => one.status === 'crashed' && !isOpen(one),
	);
	print(`Retry is pressed for ${failed.length} executions that a kill has ended`);
	for (const { id } of failed)
		await deployment.owner
			.request('POST', `/executions/${id}/retry`, { loadWorkflow: false })
			.catch(() => undefined);
	await settled(deployment, workflow);
}

/** How many videos are charged, of one client or of all. */
function charges({ gateway }: Deployment, client = ''): number {
	const charged = new Set(gateway.ledger.map(({ job }) => job));
	return gateway.jobs
		.list()
		.filter(({ id, order }) => charged.has(id) && order.prompt.startsWith(client)).length;
}

async function figuresOf(
	deployment: Deployment,
	workflow: IWorkflowBase,
	{ names, limit }: { names: string[]; limit: number },
): Promise<Figure[]> {
	const shown: string[] = [];
	for (const { id } of await deployment.executions(workflow)) {
		const { data } = await deployment.owner.execution(id);
		const { runData = {}, error } = data.resultData;
		shown.push(JSON.stringify([runData.Create, error?.message]));
	}
	const isNamed = (text: string) => shown.some((one) => one.includes(text));
	const jobs = deployment.gateway.jobs.list();
	const lost = jobs.filter(({ id, order }) => !isNamed(id) && !isNamed(`“${order.prompt}”`));
	const rows = names.map((client) => [client, String(charges(deployment, client))]);
	printTable([['client', `charged, of ${limit}`], ...rows]);
	const above = names.filter((client) => charges(deployment, client) > limit);
	return [
		none('clients above their budget', above.length),
		none('videos that no execution names', lost.length),
		none('videos charged twice', jobs.length - new Set(jobs.map(({ order }) => order.prompt)).size),
		atLeast('budgets used', (100 * charges(deployment)) / (limit * names.length), 95, {
			unit: '%',
			digits: 1,
		}),
	];
}
