import pc from 'picocolors';
import { print, type Figure } from '../../../bench/report';
import type { OrderFate } from './fates';
import { queueHouse, regularHouse, restartedQueueHouse, type OpenHouse } from './houses';
import { allPlans, samplePlans } from './plans';
import type { Plan } from './stage';
import { sweepOrders, type OrderSweepOptions } from './sweep';

interface Round {
	title: string;
	open: OpenHouse;
	plans?: Plan[];
	stopsBefore?: OrderSweepOptions['stopsBefore'];
}

/** Seconds for an order under way at Stop: longer than its answer may take. */
const afterGrace = 7;

const rounds: Record<'orders' | 'stops' | 'queue', Round[]> = {
	orders: [{ title: 'Killed amid orders', open: regularHouse, plans: allPlans() }],
	stops: [
		{ title: 'Stop, killed at once', open: regularHouse, stopsBefore: 0 },
		{ title: 'Stop, killed later', open: regularHouse, stopsBefore: afterGrace },
	],
	queue: [
		{ title: 'Worker killed', open: queueHouse },
		{ title: 'Worker and main killed', open: restartedQueueHouse },
		{ title: 'Stop, another worker', open: queueHouse, stopsBefore: afterGrace },
	],
};

/** Brings n8n to its end at every moment of an order, and prints what became of each. */
export async function ordersSection(section: keyof typeof rounds): Promise<Figure[]> {
	const figures: Figure[] = [];
	for (const { title, open, plans = samplePlans(), stopsBefore } of rounds[section]) {
		print(`\n${pc.bold(title)}`);
		const fates = await sweepOrders(open, {
			...{ plans, stopsBefore, millisecondsApart: 60 },
			...{ retries: 'both', awaitsVideos: true },
			report: (line) => print(`  ${line}`),
		});
		printFates(fates);
		figures.push(...figuresOf(title, fates));
	}
	return figures;
}

function printFates(fates: OrderFate[]): void {
	const row = (cells: string[]) => {
		const widths = [11, 33, 18, 50, 7];
		return `  ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd();
	};
	print(pc.dim(`\n${row(['what', 'moment', 'n8n has stored', 'Retry, twice', 'charges'])}`));
	for (const { form, moment, stored, retries, charges, problems } of fates) {
		const cells = [form, moment, stored, retries.join(' | ') || '-', charges.join(' ')];
		print(row([...cells, pc.red(problems.join('; '))]));
	}
}

function figuresOf(title: string, fates: OrderFate[]): Figure[] {
	const count = (is: (fate: OrderFate) => boolean) => fates.filter(is).length;
	const twice = count(({ charges }) => charges.some((number) => number > 1));
	const wrong = count(({ problems }) => problems.length > 0);
	return [
		{ figure: `${title}: executions`, value: String(fates.length) },
		{
			figure: `${title}: jobs delivered`,
			value: String(count(({ isDelivered }) => isDelivered)),
		},
		{
			figure: `${title}: orders with an unknown outcome named`,
			value: String(count(({ isNamed }) => isNamed)),
		},
		{ figure: `${title}: emptied by n8n`, value: String(count(({ isEmptied }) => isEmptied)) },
		{ figure: `${title}: charged twice`, value: String(twice), goal: '0', met: twice === 0 },
		{ figure: `${title}: wrong otherwise`, value: String(wrong), goal: '0', met: wrong === 0 },
	];
}
