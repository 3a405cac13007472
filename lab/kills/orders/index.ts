import pc from 'picocolors';
import type { OrderFate } from './fates';
import { singleProcess, twoWorkers, twoWorkersAndMain, type OpenKillable } from './killable';
import { allPlans, samplePlans } from './plans';
import type { Plan } from './scenes';
import { sweepOrders, type OrderSweepOptions } from './sweep';
import { none, print, printTable, type Figure } from '../../report';

interface Round {
	title: string;
	open: OpenKillable;
	plans?: Plan[];
	stopsBefore?: OrderSweepOptions['stopsBefore'];
}

/** Seconds between Stop and the kill: longer than the response to an order under way may take. */
const afterGrace = 7;

const rounds: Record<'orders' | 'stops' | 'queue', Round[]> = {
	orders: [{ title: 'Killed during orders', open: singleProcess, plans: allPlans() }],
	stops: [
		{ title: 'Stop, killed at once', open: singleProcess, stopsBefore: 0 },
		{ title: 'Stop, killed later', open: singleProcess, stopsBefore: afterGrace },
	],
	queue: [
		{ title: 'Worker killed', open: twoWorkers },
		{ title: 'Worker and main killed', open: twoWorkersAndMain },
		{ title: 'Stop, another worker', open: twoWorkers, stopsBefore: afterGrace },
	],
};

/** Kills n8n at every moment of an order, and prints the outcome of each. */
export async function measureOrderKills(part: keyof typeof rounds): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const { title, open, plans = samplePlans(), stopsBefore } of rounds[part]) {
		print(`\n${pc.bold(title)}`);
		const fates = await sweepOrders(open, {
			plans,
			stopsBefore,
			millisecondsApart: 60,
			retries: 'both',
			awaitsVideos: true,
			report: (line) => print(`  ${line}`),
		});
		printFates(fates);
		figures.push(...figuresOf(title, fates));
	}
	return figures;
}

function printFates(fates: OrderFate[]): void {
	printTable([
		['workflow', 'moment', 'stored by n8n', 'both Retries', 'charges', 'problems'],
		...fates.map(({ form, moment, stored, retries, charges, problems }) => [
			form,
			moment,
			stored,
			retries.join('; ') || '-',
			charges.join(' '),
			problems.join('; '),
		]),
	]);
}

function figuresOf(title: string, fates: OrderFate[]): Figure[] {
	const count = (is: (fate: OrderFate) => boolean) => fates.filter(is).length;
	const counts = {
		executions: fates.length,
		'jobs delivered': count(({ isDelivered }) => isDelivered),
		'orders with an unknown outcome named': count(({ isNamed }) => isNamed),
		'emptied by n8n': count(({ isEmptied }) => isEmptied),
	};
	const twice = count(({ charges }) => charges.some((number) => number > 1));
	const withProblems = count(({ problems }) => problems.length > 0);
	return [
		...Object.entries(counts).map(([figure, value]) => ({
			figure: `${title}: ${figure}`,
			value: String(value),
		})),
		none(`${title}: charged twice`, twice),
		none(`${title}: executions with a problem`, withProblems),
	];
}
