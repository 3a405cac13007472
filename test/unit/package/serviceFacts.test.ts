import { serviceFacts } from '../../support/pages/serviceFacts';
import { serviceStatements } from '../../support/pages/serviceStatements';

const statements = serviceStatements();
const rows = Object.values(serviceFacts).flat();

describe('statements about the service', () => {
	it('each statement about the service has a source in the specification', () => {
		const known = new Set(rows);
		const unknown = statements
			.filter(({ text }) => !known.has(text))
			.map(
				({ text, place }) =>
					`“${text}” (${place}): give it a source in test/support/pages/serviceFacts.ts, or claim less`,
			);
		expect([...new Set(unknown)]).toEqual([]);
	});

	it('each listed statement about the service is made in a text', () => {
		const said = new Set(statements.map(({ text }) => text));
		const gone = rows
			.filter((text) => !said.has(text))
			.map((text) => `no text says “${text}”: remove it from test/support/pages/serviceFacts.ts`);
		expect(gone).toEqual([]);
	});
});
