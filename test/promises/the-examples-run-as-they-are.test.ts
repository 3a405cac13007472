import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Gateway } from '../../gateway';
import { runWorkflow, type WorkflowJson } from '../harness';
import { picture } from '../support/data/samples';
import { mp4Of } from '../support/files/boxes';
import { withGateway } from '../support/http/withGateway';
import { costOf, listedCost, readExample, withFolder } from '../support/workflows/examples';
import { credentialFor } from '../support/workflows/workflows';

let gateway: Gateway;
let folder: string;
withGateway(
	{ isTimeSimulated: true, jobSeconds: 0, render: async () => mp4Of(1_000) },
	(world) => void ({ gateway } = world),
);
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'examples-')))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs an example as it is, except that its media and its folder are here. */
const runExample = async (file: string) => {
	const text = JSON.stringify(withFolder(readExample(file), folder)).replace(
		/https:\/\/example\.com\/[\w-]+\.(png|jpg)/g,
		gateway.addMedia('green.png', picture('green'), 'image/png'),
	);
	const options = { credentials: credentialFor(gateway), filesFolder: folder };
	return await runWorkflow(JSON.parse(text) as WorkflowJson, options);
};

it.each([
	['reference-video-to-file.json', /\.mp4$/],
	['scheduled-daily-video.json', /\.mp4$/],
	['product-pictures.json', /\.png$/],
	['product-videos-from-a-list.json', /\.mp4$/],
	['from-http-request-to-model-gateway.json', /\.mp4$/],
	['storyboard-of-scenes.json', /\.mp4$/],
	['storyboard-to-video.json', /\.mp4$/],
	['podcast-cover-and-teaser.json', /^(cover-.*\.png|teaser-.*\.mp4)$/],
])('runs, saves its files, and costs what the list of examples says: %s', async (file, name) => {
	const result = await runExample(file);
	expect(result.status).toBe('success');
	expect(readdirSync(folder).filter((saved) => name.test(saved)).length).toBeGreaterThan(0);
	expect(costOf(gateway.ledger)).toBe(listedCost(file));
});

it('runs, and costs what the list of examples says: semantic-search.json', async () => {
	expect((await runExample('semantic-search.json')).status).toBe('success');
	expect(costOf(gateway.ledger)).toBe(listedCost('semantic-search.json'));
});

/** What models give in place of the JSON that they are asked for. */
const silly = ['Sure! Here is an idea.', '', '{"title": "x"}', '{"cover": 7, "teaser": [""]}', '{'];

it.each(silly)(
	'podcast-cover-and-teaser.json blames the model, and orders nothing, when it answers: %j',
	async (answer) => {
		gateway.script(answer);
		const { data, status } = await runExample('podcast-cover-and-teaser.json');
		expect(status).toBe('error');
		const said = data.resultData.error?.message;
		expect(said).toMatch(/^The chat model did not give the two prompts. It answered /);
		expect(said).toContain(answer === '' ? 'nothing' : `“${answer}”`);
		expect(costOf(gateway.ledger)).toBe('1 chat');
	},
);

it.each([
	'```json\n{"cover": "Fog", "teaser": "Waves"}\n```',
	'So: {"cover":"Fog","teaser":"Waves"}.',
])('podcast-cover-and-teaser.json takes the prompts out of the answer %j', async (answer) => {
	gateway.script(answer);
	const result = await runExample('podcast-cover-and-teaser.json');
	expect(result.items('Prompts')[0].json).toEqual({ cover: 'Fog', teaser: 'Waves' });
	expect(gateway.jobs.list()[0].order.prompt).toBe('Waves');
});

it('support-mail-triage.json sends each mail to its team, and lists one that the model did not judge', async () => {
	const file = 'support-mail-triage.json';
	const sorted = await runExample(file);
	expect(costOf(gateway.ledger)).toBe(listedCost(file));
	const judged = ['Billing', 'Technical', 'Sales'].map((team) => sorted.items(team)[0].json);
	expect(judged.map(({ urgency }) => urgency)).toEqual(['normal', 'high', 'low']);

	const answers = ['', '{"category": "complaint"}', '```json\n{"category": "unclear"}\n```'];
	const subjects = ['Charged twice', 'It does not start', 'Price for a school'];
	// The mails are judged at the same time.
	const judge = (messages: Array<{ text: string }>) =>
		answers[subjects.findIndex((subject) => messages.some(({ text }) => text.includes(subject)))];
	gateway.script(judge, judge, judge);
	const unsorted = await runExample(file);
	expect(unsorted.items('Unclear')[0].json.subject).toBe('Price for a school');
	const reason = 'The chat model gave no known category.';
	expect(unsorted.items('Failed Mails').map(({ json }) => json)).toMatchObject([
		{ subject: 'Charged twice', reason, model_answered: '' },
		{ subject: 'It does not start', reason, model_answered: '{"category": "complaint"}' },
	]);
});

it('alt-texts-for-pictures.json says which image the model did not describe', async () => {
	for (const name of ['a', 'b', 'c']) {
		writeFileSync(path.join(folder, `${name}.png`), picture('green'));
	}
	gateway.script('"A green field"', ' ');
	const rows = (await runExample('alt-texts-for-pictures.json')).items('One Row per Picture');
	expect(rows.map(({ json }) => [json.alt_text, json.problem]).sort()).toEqual([
		['', 'The chat model answered nothing.'],
		['A green field', ''],
		['An image in mostly green.', ''],
	]);
});
