import type { IDataObject } from 'n8n-workflow';
import { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runWorkflow, type WorkflowJson } from '../harness';
import { picture } from '../support/data/samples';
import { mp4Of } from '../support/files/boxes';
import { startServer } from '../support/http/scriptedServer';
import { withGateway } from '../support/http/withGateway';
import {
	costOf,
	listedCost,
	readExample,
	settingsOf,
	withFolder,
	withSettings,
} from '../support/workflows/examples';
import { credentialFor } from '../support/workflows/workflows';

let folder: string;
const { gateway } = withGateway({
	isTimeSimulated: true,
	jobSeconds: 0,
	render: async () => mp4Of(1_000),
});
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'examples-')))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs an example as it is, except that its media, its folder and its settings are here. */
const runExample = async (file: string, change: (example: WorkflowJson) => WorkflowJson = same) => {
	const text = JSON.stringify(change(withFolder(readExample(file), folder))).replace(
		/https:\/\/example\.com\/[\w-]+\.(png|jpg)/g,
		gateway.addMedia('green.png', picture('green'), 'image/png'),
	);
	const options = { credentials: credentialFor(gateway), filesFolder: folder };
	return await runWorkflow(JSON.parse(text) as WorkflowJson, options);
};

const same = (example: WorkflowJson) => example;

it.each([
	['reference-video-to-file.json', /\.mp4$/],
	['scheduled-daily-video.json', /\.mp4$/],
	['product-pictures.json', /\.png$/],
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

/** Texts that models give in place of the JSON that they are asked for. */
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

describe('templates that call other services', () => {
	/** Another service, with a response for each method and path. */
	const serviceOf = async (responses: Record<string, unknown>) =>
		await startServer((response, { method, path }) => {
			const json = responses[`${method} ${path}`];
			response.writeHead(json === undefined ? 404 : 200, { 'content-type': 'application/json' });
			response.end(JSON.stringify(json));
		});

	it('shop-feed-to-videos.json writes the state of each product back, and orders nothing twice', async () => {
		const image = gateway.addMedia('mug.png', picture('green'), 'image/png');
		const products = ['fine', '[blocked]', '[fail]'].map((title, index) => ({
			sku: `A ${index}`,
			title,
			image,
			video_state: '',
			video_job: '',
			video_attempt: 1,
		}));
		const at = (index: number) => `/products/A%20${index}`;
		const written = products.map((_, index) => [`PATCH ${at(index)}`, {}]);
		const uploaded = products.map((_, index) => [`PUT ${at(index)}/video`, {}]);
		const shop = await serviceOf({
			'GET /products': products,
			...Object.fromEntries([...written, ...uploaded]),
		});
		const night = async () => {
			shop.requests.length = 0;
			const file = 'shop-feed-to-videos.json';
			const result = await runExample(file, (example) => withSettings(example, { shop: shop.url }));
			expect(result.status).toBe('success');
			for (const { method, path, body } of shop.requests) {
				const index = products.findIndex((_, own) => path === at(own) && method === 'PATCH');
				if (index >= 0) Object.assign(products[index], JSON.parse(body));
			}
			return products.map(({ video_state, video_attempt }) => `${video_state} ${video_attempt}`);
		};
		expect(await night()).toEqual(['ready 1', 'refused 1', 'failed 1']);
		expect(shop.requests.find(({ path }) => path.endsWith('/video'))?.body).toContain('ftypisom');
		expect(await night()).toEqual(['ready 1', 'refused 1', 'failed 1']);
		expect(costOf(gateway.ledger)).toBe('2 videos');
		Object.assign(products[2], { video_state: 'again', title: 'mended' });
		Object.assign(products[0], { video_state: 'ordered' });
		expect(await night()).toEqual(['ready 1', 'refused 1', 'ready 2']);
		// The shop has lost the state: the key orders nothing again.
		Object.assign(products[2], { video_state: '' });
		expect(await night()).toEqual(['ready 1', 'refused 1', 'unknown 2']);
		expect(costOf(gateway.ledger)).toBe('3 videos');
	});

	it.each([true, false])(
		'post-video-after-approval.json posts the video only after a yes: %s',
		async (approved) => {
			const network = await serviceOf({ 'POST /posts': { url: 'https://example.com/posts/1' } });
			const file = 'post-video-after-approval.json';
			const result = await runExample(file, (example) => ({
				...withSettings(example, { post_to: `${network.url}/posts` }),
				pinData: { 'Show and Ask': [{ json: { data: { approved } } }] },
			}));
			expect(result.status).toBe('success');
			expect(costOf(gateway.ledger)).toBe(listedCost(file));
			const sent = network.requests.map(({ headers, body }) => [
				headers['idempotency-key'],
				body.includes('ftypisom') && body.includes('Good morning!'),
			]);
			expect(sent).toEqual(approved ? [[gateway.jobs.list()[0].id, true]] : []);
			if (approved) expect(result.items('Posted')[0].json.post).toBe('https://example.com/posts/1');
		},
	);

	it('film-with-voice-over.json joins all clips by a web service, and nothing while one is missing', async () => {
		const file = 'film-with-voice-over.json';
		const clips = ['01', '02', '03'].map((scene) => `night-watch-${scene}-take-1.mp4`);
		const paths = ['POST /films', ...clips.map((clip) => `PUT /clips/${clip}`)];
		const service = await serviceOf(Object.fromEntries(paths.map((path) => [path, 'a film'])));
		const received = () => service.requests.map(({ method, path }) => `${method} ${path}`);
		const { scenes } = settingsOf(readExample(file)) as { scenes: IDataObject[] };
		const run = async (broken = '') =>
			await runExample(file, (example) =>
				withSettings(example, {
					service: service.url,
					scenes: scenes.map((scene, index) =>
						index === 1 ? { ...scene, prompt: `A lamp${broken}` } : scene,
					),
				}),
			);
		const failed = await run(' [blocked]');
		expect(failed.data.resultData.error?.message).toMatch(/^Nothing was joined: scene 02 has no/);
		expect(received()).not.toContain('POST /films');
		const { status } = await run();
		expect([status, costOf(gateway.ledger)]).toEqual(['success', listedCost(file)]);
		expect(received().sort()).toEqual(paths.sort());
		expect(JSON.parse(service.requests.at(-1)?.body ?? '')).toMatchObject({
			name: 'night-watch',
			clips,
		});
		const [saved, ...others] = readdirSync(folder).filter((name) => !clips.includes(name));
		expect([saved, others]).toEqual([expect.stringMatching(/^night-watch-\d{4}-.*\.mp4$/), []]);
	});

	it('film-with-voice-over.json calls ffmpeg only when its node is switched on', async () => {
		const { url } = await serviceOf({ 'GET /voice': 'a voice' });
		const settings = { join_with: 'ffmpeg', voice: `${url}/voice`, film: 'it is' };
		const film = async (isOn: boolean) =>
			await runExample('film-with-voice-over.json', (example) => {
				const changed = withSettings(example, settings);
				for (const node of changed.nodes.filter(({ name }) => name === 'Join by ffmpeg')) {
					const command = String(node.parameters?.command).replace('ffmpeg', 'echo');
					Object.assign(node, { disabled: !isOn, parameters: { command } });
				}
				return changed;
			});
		expect((await film(false)).data.resultData.error?.message).toContain('is switched off');
		const joined = await film(true);
		const [{ json }] = joined.items('Join by ffmpeg');
		expect(json.stdout).toMatch(/-i it-is\.txt -i .*it-is-voice-.* it-is\.mp4$/);
		expect(joined.items('Film Is Ready')[0].json.film).toBe(`${folder}/it-is.mp4`);
	});
});
