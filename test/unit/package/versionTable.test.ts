import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { measured, page, readPassed, render, rows } from '../../n8n/versionTable';

describe('the versions of n8n', () => {
	it('docs/versions.md shows the stored results of every version of n8n', () => {
		const wanted = render(readPassed());
		if (process.env.UPDATE_DOCS) writeFileSync(page, wanted);
		expect(readFileSync(page, 'utf8')).toBe(wanted);
	});

	it('the table of versions has a row for every file of end-to-end tests', () => {
		const files = readdirSync(path.join(__dirname, '../../e2e'))
			.filter((name) => name.endsWith('.e2e.ts'))
			.map((name) => name.replace('.e2e.ts', ''));
		expect([...new Set(rows.flatMap(({ shownBy }) => shownBy))].sort()).toEqual(
			[...files, ...measured].sort(),
		);
	});
});
