import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { events, facts } from '../../../nodes/shared/n8n/log/events';
import { aligned, withSection } from '../../support/pages/markdown';

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

describe('docs/monitoring.md', () => {
	it.each(Object.entries(tables))('lists all %s of the log', (name, table) => {
		const text = readFileSync(page, 'utf8');
		const wanted = withSection(text, name, table);
		if (process.env.UPDATE_DOCS) writeFileSync(page, wanted);
		expect(readFileSync(page, 'utf8')).toBe(wanted);
	});
});
