import pc from 'picocolors';
import { none, print, printTable, type Figure } from '../report';
import { Deployment } from '../scale/deployment';
import { reporter } from '../scale/restarts/trial';
import { startBursts } from './bursts';
import { publishNodes } from './nodes';
import { outcomeOf, type Outcome } from './outcomes';
import { startWithRestart } from './restarts';
import { playWave, type Wave } from './wave';

interface Settings {
	/** New nodes for each number of workers. */
	rounds: number;
	/** Recordings during which PostgreSQL is restarted. */
	recordings: number;
}

type Part = 'bursts' | 'restarts';

interface Series extends Pick<Wave, 'victims' | 'start'> {
	title: string;
	/** New nodes. */
	count: number;
	/** Those that share one kill of workers. */
	perKill: number;
	/** Executions that start of each node at the same moment. */
	executions: number;
}

/** The first executions of new nodes, in several workers at the same moment, and while PostgreSQL restarts. */
export async function measureBursts(
	{ rounds, recordings }: Settings,
	parts: Part[],
): Promise<Figure[]> {
	const options = {
		gateway: { jobSeconds: Infinity },
		workers: 2,
		concurrency: 100,
		hasDatabaseProxy: true,
		env: {
			// Statements that are held keep their connections.
			DB_POSTGRESDB_POOL_SIZE: '10',
			// n8n's default: a worker that starts again marks the executions that it has left, and Retry runs them.
			N8N_EVENTBUS_LOGWRITER_MAXTOTALMESSAGESPERFILE: '500000',
			// Otherwise n8n empties them a minute after the kill, and a Retry has nothing to run.
			QUEUE_WORKER_STALLED_INTERVAL: '3600000',
			// Minutes. n8n marks executions as crashed, too, whose end it could not store without PostgreSQL.
			N8N_EXECUTIONS_QUEUE_RECOVERY_INTERVAL: '0.2',
		},
	};
	const burstsOf = (workers: number): Series => ({
		title: `bursts of ${workers} workers`,
		count: rounds,
		perKill: 25,
		executions: workers,
		victims: workers / 2,
		start: startBursts,
	});
	const restarts: Series = {
		title: 'restarts of PostgreSQL',
		count: recordings,
		perKill: 10,
		executions: 1,
		victims: 2,
		start: startWithRestart,
	};
	return await Deployment.with(options, async (deployment) => {
		const figures: Figure[] = [];
		if (parts.includes('bursts')) figures.push(...(await play(deployment, burstsOf(2))));
		if (parts.includes('restarts')) figures.push(...(await play(deployment, restarts)));
		if (parts.includes('bursts')) {
			await deployment.startWorkers(2);
			figures.push(...(await play(deployment, burstsOf(4))));
		}
		return figures;
	});
}

async function play(
	deployment: Deployment,
	{ title, count, perKill, executions, ...series }: Series,
): Promise<Figure[]> {
	print(`\n${pc.bold(title)}`);
	const report = reporter(title);
	const collisions = deployment.databaseProxy?.count(await primaryKey(deployment));
	const outcomes: Outcome[] = [];
	for (let turn = 0; turn * perKill < count; turn++) {
		const nodes = await publishNodes(deployment, {
			title: `${title.replaceAll(' ', '-')}-${turn}`,
			count: Math.min(perKill, count - turn * perKill),
			executions,
		});
		const played = await playWave(deployment, { ...series, nodes, turn, report });
		for (const node of nodes) {
			const outcome = await outcomeOf(deployment, node, played);
			for (const line of outcome.evidence) print(`    ${line}`);
			outcomes.push(outcome);
		}
	}
	return figuresOf(title, outcomes, collisions?.hits ?? 0);
}

/** The name by which PostgreSQL reports that two workers have added the row of a new node. */
async function primaryKey({ database }: Deployment): Promise<string> {
	const [[name]] = await database.query(
		"SELECT constraint_name FROM information_schema.table_constraints WHERE table_name = 'processed_data' AND constraint_type = 'PRIMARY KEY'",
	);
	return name;
}

function figuresOf(title: string, outcomes: Outcome[], collisions: number): Figure[] {
	const ways = outcomes.flatMap((outcome) => outcome.ways);
	const count = (way: string) => ways.filter((one) => one === way).length;
	const sum = (key: 'failures' | 'unrecorded' | 'reordered') =>
		outcomes.reduce((total, outcome) => total + outcome[key], 0);
	printTable([
		['how executions ended, with their Retries', 'executions'],
		...[...new Set(ways)].sort().map((way) => [way, String(count(way))]),
	]);
	const facts = {
		executions: ways.length,
		'rows that another worker had added': collisions,
		'“store failed” in the log': sum('failures'),
		'ordered without a record': sum('unrecorded'),
		'videos that only a new execution has ordered': sum('reordered'),
	};
	return [
		...Object.entries(facts).map(([name, value]) => ({
			figure: `${title}: ${name}`,
			value: String(value),
		})),
		none(`${title}: charged twice`, outcomes.flatMap(({ twice }) => twice).length),
		none(`${title}: stuck`, outcomes.flatMap(({ stuck }) => stuck).length),
	];
}
