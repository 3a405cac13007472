import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { events, facts } from '../../../nodes/shared/n8n/log/events';
import { measured, readPassed, render, rows } from '../../n8n/versionTable';
import { drawingOfHouse } from '../../support/pages/house';
import { aligned, withSection } from '../../support/pages/markdown';

const root = path.join(__dirname, '../../..');

const eventTable = () =>
	aligned([
		['Event', 'Level', 'What happened'],
		...Object.entries(events).map(([name, { level, meaning }]) => [`\`${name}\``, level, meaning]),
	]);
const factTable = () =>
	aligned([
		['Fact', 'What it is'],
		...Object.entries(facts).map(([name, meaning]) => [`\`${name}\``, meaning]),
	]);

/** What the code says, written into a page. */
const pages: Record<string, (text: string) => string> = {
	'docs/monitoring.md': (text) =>
		withSection(withSection(text, 'events', eventTable()), 'facts', factTable()),
	'docs/versions.md': () => render(readPassed()),
	'docs/development/architecture.md': (text) => withSection(text, 'house', drawingOfHouse()),
};

it.each(Object.entries(pages))(
	'%s shows what the code says; UPDATE_DOCS=1 writes it again',
	(page, write) => {
		const file = path.join(root, page);
		const wanted = write(readFileSync(file, 'utf8'));
		if (process.env.UPDATE_DOCS) writeFileSync(file, wanted);
		expect(readFileSync(file, 'utf8')).toBe(wanted);
	},
);

it('the table of versions has a row for every file of end-to-end tests', () => {
	const files = readdirSync(path.join(root, 'test/e2e'))
		.filter((name) => name.endsWith('.e2e.ts'))
		.map((name) => name.replace('.e2e.ts', ''));
	expect([...new Set(rows.flatMap(({ shownBy }) => shownBy))].sort()).toEqual(
		[...files, ...measured].sort(),
	);
});
