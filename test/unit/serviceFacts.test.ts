import { serviceFacts } from '../support/serviceFacts';
import { sentencesOf } from '../support/markdown';
import { isAboutService, serviceStatements } from '../support/serviceStatements';

const statements = serviceStatements();
const rows = Object.values(serviceFacts).flat();

describe('what users read about the service', () => {
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

	it('is no longer listed when nobody says it', () => {
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
		'docs/money.md',
		'examples/video-agent.json',
		'the panels',
		'nodes/shared/n8n/errors/advice.ts',
		'nodes/shared/n8n/orders/messages.ts',
	])('is looked for in %s', (place) => {
		expect(statements.map((statement) => statement.place)).toContain(place);
	});
});

describe('a sentence', () => {
	it('is read without its marks, in a cell of a table too, and not from code', () => {
		const page =
			'# A page\n\nOne **is**\nbold. [Two](page.md)!\n\n- `three` 3.5\n\n| four | _five_. Six |\n| --- | --- |\n\n```sh\nseven\n```';
		expect(sentencesOf(page)).toEqual([
			'A page',
			'One is bold.',
			'Two!',
			'three 3.5',
			'four',
			'five.',
			'Six',
		]);
	});

	it.each([
		'Reasoning models refuse even default values.',
		'Links of images work for 30 minutes.',
		'The link stops working after 24 hours.',
		'Videos are kept for a week.',
		'With Improve Prompt, your prompt may be rewritten.',
		'The prompt may be reworded.',
		'Your gateway ignores the seed.',
		'Could not get the job: not found (HTTP 404, video_not_found)',
		'A missing video comes with video_not_found.',
		'The gateway remembers each order.',
		'Such a call is not billed.',
		'At most 12 clips fit into a request.',
		'vid-3.1-landscape is 16:9.',
	])('about the service needs a source: %s', (text) => {
		expect(isAboutService(text)).toBe(true);
	});

	it.each([
		'Choose a chat model of your gateway.',
		'Outputs keep the field names of the service.',
		'When the service refuses a request, the node divides it.',
		'Could not …: … (HTTP …, video_not_found)',
		'beta-2.7-r2v',
	])('that only mentions the service needs none: %s', (text) => {
		expect(isAboutService(text)).toBe(false);
	});
});
