import { serviceFacts } from '../../support/serviceFacts';
import { serviceStatements } from '../../support/serviceStatements';

const statements = serviceStatements();
const rows = Object.values(serviceFacts).flat();

describe('a statement about the service', () => {
	it('has a source in the specification', () => {
		const known = new Set(rows);
		const unknown = statements
			.filter(({ text }) => !known.has(text))
			.map(
				({ text, place }) =>
					`“${text}” (${place}): give it a source in test/support/serviceFacts.ts, or say it less surely`,
			);
		expect([...new Set(unknown)]).toEqual([]);
	});

	it('is not listed when no text says it', () => {
		const said = new Set(statements.map(({ text }) => text));
		const gone = rows
			.filter((text) => !said.has(text))
			.map((text) => `“${text}” is said nowhere: take it out of test/support/serviceFacts.ts`);
		expect(gone).toEqual([]);
	});

	it('is listed once', () => {
		expect(rows.filter((text, index) => rows.indexOf(text) !== index)).toEqual([]);
	});

	it.each([
		'README.md',
		'SECURITY.md',
		'docs/never-pay-twice.md',
		'examples/video-agent.json',
		'the panels',
		'nodes/shared/n8n/errors/advice.ts',
		'nodes/shared/n8n/orders/messages.ts',
	])('is looked for in %s', (place) => {
		expect(statements.map((statement) => statement.place)).toContain(place);
	});
});
