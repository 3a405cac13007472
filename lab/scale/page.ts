import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Figure } from '../report';
import { aligned, withSection } from '../../test/support/pages/markdown';

const page = path.join(__dirname, '../capacity.md');

/** Writes the figures of a section into the guide, between the comments that name it. */
export function writeIntoPage(section: string, figures: Figure[]): void {
	const rows = figures.map(({ figure, value, goal = '', met }) => [
		figure.trim(),
		value,
		met === false ? `${goal}: missed` : goal,
	]);
	const day = new Date().toISOString().slice(0, 10);
	const stamp = `Measured on ${day}, on ${availableParallelism()} cores that all processes and the service share:`;
	const table = aligned([['Figure', 'Value', 'Goal'], ...rows]);
	writeFileSync(page, withSection(readFileSync(page, 'utf8'), section, `${stamp}\n\n${table}`));
}
