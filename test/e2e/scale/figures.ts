import pc from 'picocolors';
import { print, type Figure } from '../../bench/report';
import { ways, type Fate } from './fates';
import type { Round } from './round';

export function printFates(fates: Fate[]): void {
	const row = (cells: string[]) => {
		const widths = [10, 20, 16, 20, 8, 10];
		return `  ${cells.map((cell, index) => cell.padEnd(widths[index])).join('  ')}`.trimEnd();
	};
	print(
		pc.dim(
			`\n${row(['moment', 'its video came', 'n8n emptied it', 'ID found in', 'charges', 'deliveries'])}`,
		),
	);
	for (const { moment, way, isEmptied, foundIn, charges, deliveries } of fates) {
		print(row([moment, way, isEmptied ? 'yes' : '', foundIn, String(charges), String(deliveries)]));
	}
}

export function figuresOf(title: string, { fates, unrecorded }: Round): Figure[] {
	const count = (is: (fate: Fate) => boolean) => fates.filter(is).length;
	const none = (figure: string, is: (fate: Fate) => boolean): Figure => {
		const found = count(is);
		return { figure: `${title}: ${figure}`, value: String(found), goal: '0', met: found === 0 };
	};
	const twice = count(({ charges }) => charges > 1);
	return [
		...ways.slice(0, -1).map((way) => ({
			figure: `${title}: ${way}`,
			value: `${count((fate) => fate.way === way)} of ${fates.length}`,
		})),
		{
			figure: `${title}: emptied by n8n`,
			value: String(count(({ isEmptied }) => isEmptied)),
		},
		none('lost', ({ way }) => way === 'lost'),
		{
			figure: `${title}: charged twice`,
			value: `${twice}, ${unrecorded} forgotten by n8n's store`,
			...{ goal: 'no more than forgotten', met: twice <= unrecorded },
		},
		none('delivered twice', ({ deliveries }) => deliveries > 1),
	];
}
