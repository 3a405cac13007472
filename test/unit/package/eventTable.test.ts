import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { events, facts } from '../../../nodes/shared/n8n/log/events';
import { aligned } from '../../support/pages/markdown';

const page = path.join(__dirname, '../../../docs/monitoring.md');

const tables = {
	events: aligned([
		['Event', 'Level', 'What happened'],
		...Object.entries(events).map(([name, { level, meaning }]) => [`\`${name}\``, level, meaning]),
	]),
	facts: aligned([
		['Fact', 'What it is'],
		...Object.entries(facts).map(([name, meaning]) => [`\`${name}\``, meaning]),
	]),
};

/** The page with this table between its two comments. */
function withTable(text: string, name: string, table: string): string {
	const [begin, end] = [`<!-- ${name} -->`, `<!-- end of ${name} -->`];
	const [from, to] = [text.indexOf(begin), text.indexOf(end)];
	if (from < 0 || to < from) throw new Error(`docs/monitoring.md has no place for ${name}`);
	return `${text.slice(0, from)}${begin}\n\n${table}\n\n${text.slice(to)}`;
}

describe('docs/monitoring.md', () => {
	it.each(Object.entries(tables))('lists all %s of the log', (name, table) => {
		const text = readFileSync(page, 'utf8');
		const wanted = withTable(text, name, table);
		if (process.env.UPDATE_DOCS) writeFileSync(page, wanted);
		expect(readFileSync(page, 'utf8')).toBe(wanted);
	});
});
