import { none, printTable, type Figure } from '../report';
import { ways } from './fates';
import type { Round } from './round';

export function printFates(fates: Round['fates']): void {
	printTable([
		['moment', 'video arrived', 'emptied by n8n', 'ID found in', 'charges', 'deliveries'],
		...fates.map(({ moment, way, isEmptied, foundIn, charges, deliveries }) => [
			moment,
			way,
			isEmptied ? 'yes' : '',
			foundIn,
			String(charges),
			String(deliveries),
		]),
	]);
}

export function figuresOf(title: string, { fates }: Round): Figure[] {
	const count = (is: (fate: Round['fates'][number]) => boolean) => fates.filter(is).length;
	return [
		...ways.slice(0, -1).map((way) => ({
			figure: `${title}: ${way}`,
			value: `${count((fate) => fate.way === way)} of ${fates.length}`,
		})),
		{
			figure: `${title}: emptied by n8n`,
			value: String(count(({ isEmptied }) => isEmptied)),
		},
		none(
			`${title}: lost`,
			count(({ way }) => way === 'lost'),
		),
		none(
			`${title}: charged twice`,
			count(({ charges }) => charges > 1),
		),
		none(
			`${title}: delivered twice`,
			count(({ deliveries }) => deliveries > 1),
		),
	];
}
